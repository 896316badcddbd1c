"""State machines (MLS 17): what transitions say, and the clocked equations that they mean."""
