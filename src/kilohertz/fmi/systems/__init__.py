"""Systems of FMUs: SSP archives as scenarios, and scenarios as SSP archives."""
