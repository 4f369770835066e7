"""``Pictures`` by Pillow: pairs from the change and from a folder, compared pixel by pixel, cropped without loss."""
