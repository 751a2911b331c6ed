"""Projection of longitude and latitude to metres, so that distances mean the same everywhere.

The projection is local and equirectangular: x = R cos(φ₀) (λ − λ₀) and y = R (φ − φ₀), around the
mean of the positions. Over a country, distances are exact to about a percent.
"""

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem

PROJECTED = "longitude and latitude are projected to metres"
EARTH_RADIUS_M = 6_371_008.8  # mean radius, IUGG
GEOGRAPHIC = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"), ("long", "lat"))
_Doubles = npt.NDArray[np.float64]


def projected(degrees: _Doubles, where: str) -> tuple[_Doubles, str]:
    """Return longitudes and latitudes [n, 2] in degrees as metres, and a remark on the projection.

    NaN stays NaN; without any position the remark is "". Raises Problem for values that are not
    degrees.
    """
    east, north = degrees.T
    known = ~np.isnan(east + north)
    if not known.any():
        return degrees, ""
    if (np.abs(north[known]) > 90.0).any() or (np.abs(east[known]) > 360.0).any():
        what = "lon, lat: expected degrees, -180 to 180 and -90 to 90"
        raise Problem(what, where=where, remedy="name the columns x and y if they are lengths")
    # The circular mean of the longitudes, so that the antimeridian cuts no network in two.
    turn = np.exp(1j * np.radians(east[known]))
    east_0 = float(np.degrees(np.angle(turn.mean())))
    north_0 = float(north[known].mean())
    away = (east - east_0 + 180.0) % 360.0 - 180.0
    x = EARTH_RADIUS_M * np.cos(np.radians(north_0)) * np.radians(away)
    y = EARTH_RADIUS_M * np.radians(north - north_0)
    remark = f"{PROJECTED} (equirectangular, around lon {east_0:.4f}, lat {north_0:.4f})"
    return np.column_stack((x, y)), remark
