"""What a review says on its forge: decided and worded here, written by the publish phase."""
