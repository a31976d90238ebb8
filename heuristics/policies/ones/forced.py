"""Forced: which jobs must run at an event, as long as there is room."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heuristics.policies.ones.dividing import Division, Floats

#: Who must run: nobody, jobs that have never run, or all.
Forced = Literal["none", "new", "all"]


def forced_jobs(division: Division, speeds: Floats, left: Floats, forced: Forced) -> NDArray[np.bool_]:
    """Return which jobs must run: as many of those that are forced as have room on their fewest GPUs.

    Of new jobs those do that came first, of all those with the least time left on their fewest GPUs.

    Parameters
    ----------
    division
        The event.
    speeds
        Of each job on 0, 1, ... GPUs; 0 where it may not run.
    left
        Work that is left of each, in the unit of the speeds.
    forced
        Who is.
    """
    fewest = (speeds > 0).argmax(axis=1)
    places = [place for place in range(len(speeds)) if fewest[place] and forced != "none"]
    if forced == "all":
        places.sort(key=lambda place: left[place] / speeds[place, fewest[place]])
    else:
        places = [place for place in places if not division.started[place]]
    must = np.zeros(len(speeds), dtype=np.bool_)
    room = division.gpus
    for place in places:
        if fewest[place] <= room:
            must[place] = True
            room -= int(fewest[place])
    return must
