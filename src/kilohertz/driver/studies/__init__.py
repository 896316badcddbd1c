"""Many runs of a model for one answer: series over parameters."""
