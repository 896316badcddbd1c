"""What is told of a model before it runs: the check, the analysis and its text, in the prices of this compiler."""
