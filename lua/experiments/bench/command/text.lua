-- ladies bench text: measures how fast text is read, and in how much memory: edges in CSV, csv.gz
-- and Matrix Market, beside pandas, polars and SciPy on the same files where there is a Python that
-- has them. Each round reads every file with ladies, then with the peers, so that all meet the same
-- machine.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local install = require "experiments.bench.peers.install"
local medians = require "ladies.statistics.medians"
local MIB = require("ladies.base.units").MIB
local shell_word = require "ladies.base.shell_word"
local tables = require "ladies.base.tables"

local NODES, THREADS = 233000, 2

local spec = {
  name = "ladies bench text",
  about = "Measures how fast edges are read from text, and in how much memory.",
  {"edges", "N", "positive integer", default = 5000000, help = "lines of each file"},
  {"rounds", "N", "positive integer", default = 7, help = "readings of each file"},
  {"python", "PROGRAM", "string", help = "a Python with pandas, polars or SciPy; by default that "
    .. "of `ladies bench peers`, or python3"},
  {"folder", "PATH", "string", default = "/tmp", help = "where 900 MB of files may lie"},
}

-- ---------------------------------------------------------------- files

-- Writes a file of `count` random edges behind a first line: a line is form(source, target,
-- weight).
local function write_lines(path, first, count, form)
  local file <close> = assert(io.open(path, "wb"))
  file:setvbuf("full", 1 << 20)
  file:write(first)
  math.randomseed(1)
  for _ = 1, count do
    file:write(form:format(math.random(NODES), math.random(NODES), math.random()))
  end
end

local function banner(kind, count)
  return ("%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n"):format(kind, NODES, NODES,
    count)
end

-- Makes the files; returns their paths in the order of the table.
local function make_files(folder, count)
  local function path(name) return ("%s/%s"):format(folder, name) end
  for name, form in pairs{edges = "%d,%d\n", weights = "%d,%d,%.7f\n"} do
    local plain = path(name .. ".csv")
    write_lines(plain, "", count, form)
    ladies.text.write(plain .. ".gz", (ladies.text.read(plain, {header = false})))
  end
  write_lines(path "edges-random.mtx", banner("pattern", count), count, "%d %d\n")
  write_lines(path "weights-random.mtx", banner("real", count), count, "%d %d %.7f\n")
  for _, name in ipairs{"edges", "weights"} do
    ladies.mtx.write(path(name .. "-sorted.mtx"), ladies.mtx.read(path(name .. "-random.mtx")))
  end
  return {path "edges.csv", path "weights.csv", path "edges.csv.gz", path "weights.csv.gz",
    path "edges-sorted.mtx", path "weights-sorted.mtx", path "edges-random.mtx",
    path "weights-random.mtx"}
end

-- ---------------------------------------------------------------- readings

-- Reads a file as it is compared: a table of columns, or a matrix.
local function read(path)
  if path:find "%.mtx$" then return ladies.mtx.read(path) end
  return {ladies.text.read(path, {header = false,
    columns = {"id", "id", path:find "weights" and "number" or nil}})}
end

-- Returns the graph that `ladies.data.from_files` makes of a file, whose edges go both ways.
local function graph(path)
  if path:find "%.mtx$" then return ladies.mtx.read(path) end
  return ladies.text.read_edges(path, {header = false, n_ids = NODES + 1,
    columns = {"id", "id", path:find "weights" and "number" or nil}}):symmetrize()
end

local function live()
  collectgarbage()
  collectgarbage()
  return core.memory().total
end

local function seconds_of(path)
  live()
  local began = core.clock()
  local kept = read(path)
  return core.clock() - began, kept
end

-- Returns the peak and the final size, in MiB, of making the graph of a file, and the graph.
local function memory_of(path)
  live()
  core.memory_trim()
  local before = live()
  local kept = graph(path)
  local peak = core.memory().peak - before
  local final = live() - before
  return peak / MIB, final / MIB, kept
end

-- Returns the line on the peers' versions, nil where there is no Python, and their seconds by path
-- and name: seconds[path][peer].
local function peers(python, paths)
  local script = ladies.home() .. "/scripts/bench/peers/text.py"
  local words = tables.map(tables.append({python, script}, paths), shell_word)
  local pipe = io.popen(table.concat(words, " ") .. " 2>/dev/null")
  local versions, seconds = pipe:read "l", {}
  for line in pipe:lines() do
    local time, name, path = line:match "^(%S+) (%S+) (.*)$"
    seconds[path] = seconds[path] or {}
    seconds[path][name] = tonumber(time)
  end
  return pipe:close() and versions, seconds
end

-- ---------------------------------------------------------------- the table

-- Formats a peer's seconds, `theirs`, one for each round, and the median of their ratios to ours;
-- blanks where the peer is missing (nil).
local function peer_text(ours, theirs)
  if not theirs then return "       -     -" end
  return ("%8.3f %5.2f"):format(medians.of(theirs), medians.ratio(theirs, ours).median)
end

local PEERS = {"pandas", "polars", "SciPy"}

local function print_file(path, ours, theirs)
  local cells = {}
  for i, name in ipairs(PEERS) do cells[i] = peer_text(ours, theirs[name]) end
  local peak, final = memory_of(path)
  print(("%-18s %7.3f  %s  %7.1f MiB  %12.2f"):format(path:match "[^/]*$", medians.of(ours),
    table.concat(cells, "  "), peak, peak / final))
end

cli.main(spec, arg, function(opts)
  ladies.threads(THREADS)
  local folder = ("%s/ladies-bench-%d"):format(opts.folder, math.random(1 << 40))
  core.mkdir(folder)
  local paths = make_files(folder, opts.edges)
  local ours, theirs, versions = {}, {}, nil
  for _, path in ipairs(paths) do ours[path], theirs[path] = {}, {} end
  for i = 1, opts.rounds do
    for _, path in ipairs(paths) do ours[path][i] = seconds_of(path) end
    local seconds
    versions, seconds = peers(opts.python or install.found() or "python3", paths)
    for path, of_path in pairs(versions and seconds or {}) do
      for name, time in pairs(of_path) do
        theirs[path][name] = theirs[path][name] or {}
        theirs[path][name][i] = time
      end
    end
  end
  print(("ladies %s, %s; %s; %d lines"):format(ladies.version, counted(THREADS, "thread"),
    versions or "no peers: there is no Python with pandas, polars or SciPy", opts.edges))
  print("file                ladies   pandas ratio   polars ratio    SciPy ratio  peak memory  "
    .. "of the final")
  for _, path in ipairs(paths) do
    print_file(path, ours[path], theirs[path])
    os.remove(path)
  end
  os.remove(folder)
end)
