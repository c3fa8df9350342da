#pragma once
// Fields that a launch has however it was seen: in an activity record or in a callback.
#include "json_line.h"

namespace attnscope::collector {

/// Three numbers each; a cluster of zeros was not asked for.
template <class Grid, class Cluster>
void add_geometry(JsonLine& line, const Grid& grid, const Grid& block, const Cluster& cluster) {
    line.number("grid_x", grid[0]).number("grid_y", grid[1]).number("grid_z", grid[2]);
    line.number("block_x", block[0]).number("block_y", block[1]).number("block_z", block[2]);
    if (cluster[0] != 0)
        line.number("cluster_x", cluster[0]).number("cluster_y", cluster[1]).number("cluster_z", cluster[2]);
}

}  // namespace attnscope::collector
