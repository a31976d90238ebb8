"""How all tests run: hypothesis measures no time, so that a busy machine fails nothing."""

from hypothesis import HealthCheck, settings

settings.register_profile("gsopt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gsopt")
