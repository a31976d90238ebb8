"""How all tests run: hypothesis measures no time, as a busy machine must fail nothing; Ctrl-C can be tested."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("gsopt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gsopt")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it to what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
