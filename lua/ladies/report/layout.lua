--- Finds places for the nodes of a small graph in a drawing: edges pull their ends together like
-- springs, and nodes push each other away (Fruchterman and Reingold, Graph Drawing by
-- Force-directed Placement, 1991).

local STEPS = 150

-- Returns the initial places of n nodes, on a spiral and not at random, so that the same graph
-- always has the same picture.
local function spiral(n)
  local places = {}
  for i = 1, n do
    local angle, radius = 2.4 * (i - 1), math.sqrt((i - 1) / n)
    places[i] = {radius * math.cos(angle), radius * math.sin(angle)}
  end
  return places
end

-- Adds the force of b on a, whose strength is strength(distance), to the forces on a, and its
-- opposite to those on b.
local function pull(forces, places, a, b, strength)
  local dx, dy = places[b][1] - places[a][1], places[b][2] - places[a][2]
  local distance = math.max(1e-3, math.sqrt(dx * dx + dy * dy))
  local f = strength(distance) / distance
  forces[a][1], forces[a][2] = forces[a][1] + f * dx, forces[a][2] + f * dy
  forces[b][1], forces[b][2] = forces[b][1] - f * dx, forces[b][2] - f * dy
end

-- Moves the places by their forces, none farther than `most`.
local function move(places, forces, most)
  for i, place in ipairs(places) do
    local fx, fy = forces[i][1] - 0.05 * place[1], forces[i][2] - 0.05 * place[2]
    local length = math.max(1e-9, math.sqrt(fx * fx + fy * fy))
    local step = math.min(length, most) / length
    place[1], place[2] = place[1] + step * fx, place[2] + step * fy
  end
end

--- layout(n, edges) -> array of {x, y}: returns the places of n nodes, where `edges` are pairs {a,
-- b}.
return function(n, edges)
  local places, k = spiral(n), math.sqrt(2 / math.max(1, n))
  local function together(distance) return distance * distance / k end
  local function apart(distance) return -k * k / distance end
  for step = 1, n > 1 and STEPS or 0 do
    local forces = {}
    for i = 1, n do forces[i] = {0, 0} end
    for a = 1, n do
      for b = a + 1, n do pull(forces, places, a, b, apart) end
    end
    for _, edge in ipairs(edges) do
      if edge[1] ~= edge[2] then pull(forces, places, edge[1], edge[2], together) end
    end
    move(places, forces, 0.2 * (1 - step / STEPS) + 1e-3)
  end
  return places
end
