"""Two trajectories in, a verdict with reasons out; simulates nothing itself."""
