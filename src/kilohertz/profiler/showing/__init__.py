"""The pages of profiles: one of a profile, one of two variants."""

from kilohertz.profiler.showing.profile_page import profile_page
from kilohertz.profiler.showing.versus_page import versus_page

__all__ = ["profile_page", "versus_page"]
