--- The rooms of the program as an SVG picture: rooms_picture(root) -> text. Which room needs which
-- is read from the sources; a room is drawn above all those of its part that it needs.

local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local WIDTH, LEFT, BOX, HEIGHT, GAP = 1010, 130, 92, 26, 8

-- The room of a part that a line of its sources needs; nil for none.
local function required(line) return line:match "^%s*[^-]*require%s*%(?%s*[\"']ladies%.(%w+)" end

local function included(folder)
  return function(line)
    local path = line:match '^#include "([%w_/]+%.h)"'
    return path and core.exists(folder .. "/" .. path) and path:match "^(%w+)/"
  end
end

-- The parts of the picture from top to bottom, with a few words on each room.
local PARTS = {
  {title = "Lua", folder = "lua/ladies", colour = "#dbe9f6", needs = function() return required end,
    about = {
      command = "command lines", prompt = "the prompt and notebooks", lab = "samplers, examined",
      study = "many runs", experiment = "settings to a run", training = "the loop",
      samplers = "a sampler a file", evaluation = "exact inference, metrics",
      links = "edges as examples", nn = "networks",
      sampling = "draws", data = "data sets", graph = "P",
      optim = "optimizers, schedules", report = "tables and pictures", show = "what values show",
      base = "options, errors, folders", ranks = "several processes",
    }},
  {title = "binding", folder = "src/bind", colour = "#e6f2dc", needs = included, about = {
    state = "arguments, errors, lifetimes", worker = "samplers in threads",
  }},
  {title = "core", folder = "src/core", colour = "#fbe9d0", needs = included, about = {
    base = "errors, sorting", text = "characters, names", system = "machine, threads, processes",
    memory = "allocation, mapped files", random = "Philox", kernel = "loops over numbers",
    tensor = "dense numbers, ids",
    graph = "CSR, SpMM", sample = "draws", grad = "the tape", optim = "Adam", io = "files",
  }},
  {title = "plugins", folder = "src/plugins", colour = "#f3e3f3", needs = included, about = {
    generate = "random graphs", large = "graphs larger than memory", ranks = "several processes",
  }},
}

local function lines_of(...)
  local list = {}
  for line in shell.run{...}:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

-- Room -> set of the rooms of the same part that its files need.
local function needs_of(folder, needed)
  local needs = {}
  for _, name in ipairs(core.files(folder)) do
    if core.exists(folder .. "/" .. name) == "folder" then needs[name] = {} end
  end
  for room, set in pairs(needs) do
    for _, path in ipairs(lines_of("find", folder .. "/" .. room, "-name", "*.[chl]*")) do
      for _, line in ipairs(files.lines(path)) do
        local other = needed(line)
        if other and needs[other] and other ~= room then set[other] = true end
      end
    end
  end
  return needs
end

-- The rooms by level, an array of arrays of names; those of the first need no other.
local function levels_of(needs)
  local level, levels = {}, {}
  local function level_of(room)
    if not level[room] then
      local highest = 0
      for other in pairs(needs[room]) do highest = math.max(highest, level_of(other)) end
      level[room] = highest + 1
    end
    return level[room]
  end
  for room in pairs(needs) do
    local at = level_of(room)
    levels[at] = levels[at] or {}
    table.insert(levels[at], room)
  end
  for _, rooms in ipairs(levels) do table.sort(rooms) end
  return levels
end

local function text(x, y, what, more)
  return ('<text x="%d" y="%d" %s>%s</text>'):format(x, y, more or "", what)
end

local function box(x, y, width, what, colour)
  return ('<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="#555"/>\n'):format(x,
    y, width, HEIGHT, colour) .. text(x + width // 2, y + 17, what, 'text-anchor="middle"')
end

-- Draws a part that has no rooms as a band over the whole width; returns the y below.
local function band(out, y, title, what)
  out[#out + 1] = text(10, y + 17, title, 'font-weight="bold"')
  out[#out + 1] = box(LEFT, y, WIDTH - LEFT - 10, what, "#eeeeee")
  return y + HEIGHT + 3 * GAP
end

-- The rooms of a part, the highest first; returns the y below.
local function part_of(out, y, part, levels)
  out[#out + 1] = text(10, y + 17, part.title, 'font-weight="bold"')
  out[#out + 1] = text(10, y + 33, part.folder, 'fill="#555"')
  for at = #levels, 1, -1 do
    local about = {}
    for i, room in ipairs(levels[at]) do
      out[#out + 1] = box(LEFT + (i - 1) * (BOX + GAP), y, BOX, room, part.colour)
      about[#about + 1] = part.about[room]
    end
    out[#out + 1] = text(LEFT + #levels[at] * (BOX + GAP) + GAP, y + 17, table.concat(about, "; "),
      'fill="#555"')
    y = y + HEIGHT + GAP
  end
  return y + 2 * GAP
end

return function(root)
  local out, y = {}, 12
  y = band(out, y, "programs", "scripts/, a file a command; the prompt; scripts of your own")
  for _, part in ipairs(PARTS) do
    local folder = root .. "/" .. part.folder
    y = part_of(out, y, part, levels_of(needs_of(folder, part.needs(folder))))
  end
  y = band(out, y, "libraries", "OpenBLAS, zlib, minizip, lua-cjson; METIS, librsvg, MPI if there")
  return table.concat({
    ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family='
      .. '"sans-serif" font-size="13">'):format(WIDTH, y, WIDTH),
    '<rect width="100%" height="100%" fill="white"/>', table.concat(out, "\n"), "</svg>\n",
  }, "\n")
end
