"""What ``doctor`` looks at beside what a review needs: one module per subject."""
