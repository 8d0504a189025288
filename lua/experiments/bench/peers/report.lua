--- The text that `ladies bench peers` prints: a table of the results, one of what the work is, and
-- the few rows that README.md shows.

local medians = require "ladies.statistics.medians"
local Table = require "ladies.report.table"
local cases = require "experiments.bench.peers.cases"
local tables = require "ladies.base.tables"

local report = {}

-- ---------------------------------------------------------------- reasons

-- Returns the last name of a path or an address that is of one machine; other words stay.
local function last_name(word)
  if word:find "^[/~]%S" or word:find "://" then return word:match "([^/]*)/*$" end
end

--- Returns a reason why there is no result, as a page may show it: what stands before further
-- advice, and in place of this machine's paths, and of addresses, their last names.
function report.reason(text)
  text = text:match "^(.-);" or text
  return (text:gsub("%s%(.*", ""):gsub("[%w%._~:@%%+-]*/[%w%._~:@%%+/-]*", last_name))
end

-- ---------------------------------------------------------------- the two tables

-- Returns the result of a case beside the fastest of its peers.
local function closest(results, name)
  local best
  for _, one in ipairs(results) do
    if one.name == name and one.ratio and (not best or one.ratio.median < best.ratio.median) then
      best = one
    end
  end
  return best
end

-- Milliseconds, and for work of several parts theirs.
local function parts_text(result, parts)
  local whole = ("%.2f"):format(parts.whole)
  if result.work ~= "training" and result.work ~= "links" then return whole end
  return ("%s (%.2f, %.2f, %.2f)"):format(whole, parts.sampling, parts.gathering,
    parts.computing)
end

-- The fastest peer of a work is marked.
local function table_of_results(results)
  local content = Table.new{"work", "peer", "ladies ms (sampling, gathering, computing)",
    "peer ms (the same)", "peer / ladies (quartiles)", "fastest", "turns", "difference"}
  for _, one in ipairs(results) do
    if not one.failed then
      content:add{one.name, one.peer, parts_text(one, one.ours), parts_text(one, one.theirs),
        medians.text(one.ratio), closest(results, one.name) == one and "*" or "", one.rounds,
        Table.number(one.difference, "%.0e")}
    end
  end
  return content:markdown()
end

-- "--method ladies --samples 64" for the settings of a case.
local function words_of(settings)
  return table.concat(tables.map(tables.sorted_keys(settings), function(name)
    return ("--%s %s"):format(name:gsub("_", "-"), settings[name])
  end), " ")
end

-- The description of a piece of work, for a case whose result has the settings `s`.
local pieces = {}

function pieces.training(s)
  return ("a step, with %d nodes in the loss: %d layers of width %d, %s, dropout %g, Adam"):format(
    s.losses, s.layers, s.hidden, s.activation, s.dropout)
end

function pieces.links(s)
  return ("a step, with %d edges and as many pairs that are none: %d layers of width %d, Adam")
    :format(s.batch, s.layers, s.hidden)
end

function pieces.sampling(s) return ("%d layers from %d seeds"):format(s.layers, s.batch) end
function pieces.inference(s) return ("%d layers of width %d"):format(s.layers, s.hidden) end
function pieces.product(s) return ("P times %d columns"):format(s.columns) end
function pieces.start() return "a process, from its start to the end of the first step" end

-- Returns a table, as Markdown, with a row on what each work is, once for all of its peers.
local function table_of_work(results)
  local content = Table.new{"work", "nodes", "entries of P", "features", "training nodes",
    "one piece of it", "settings"}
  local done = {}
  for _, one in ipairs(results) do
    if not one.failed and not done[one.name] then
      local s = one.settings
      content:add{one.name, s.nodes, s.entries, s.features, s.train, pieces[one.work](s),
        ("`%s`"):format(words_of(one.given))
          .. (one.variant and (", %s"):format(one.variant) or "")}
      done[one.name] = true
    end
  end
  return content:markdown()
end

-- Tells where and how results of a record, as peers.json holds one, were measured: at `where`, or
-- where the last ones were.
local function measured(record, where)
  return ("Measured on %s; %d thread%s on either side"):format(where or record.measured,
    record.threads, record.threads == 1 and "" or "s")
end

-- Writes a line for each work that an earlier measurement has left, with the machine and version at
-- which it was measured, since others were measured again.
local function kept_lines(results)
  local lines, done = {}, {}
  for _, one in ipairs(results) do
    local line = one.measured and ("* %s: on %s."):format(one.name, one.measured)
    if line and not done[line] then lines[#lines + 1] = line end
    done[line or 0] = true
  end
  return table.concat(lines, "\n")
end

--- report.renewed(record, earlier) -> record: the works of `record` in the place of theirs in an
-- earlier record of as many threads and seconds; works that were not measured again stay, each with
-- the machine and version at which it was measured.
function report.renewed(record, earlier)
  for _, name in ipairs{"threads", "seconds"} do
    if record[name] ~= earlier[name] then
      error(("peers.json was measured with %s = %g, so %g cannot join it"):format(name,
        earlier[name], record[name]), 0)
    end
  end
  local by_work = {}
  local function place(one, where)
    local list = by_work[one.name] or {}
    by_work[one.name] = list
    local copy = tables.merged(one)
    copy.measured = where ~= record.measured and where or nil
    list[#list + 1] = copy
  end
  for _, one in ipairs(record.results) do place(one, record.measured) end
  local fresh = tables.merged(by_work)
  for _, one in ipairs(earlier.results) do
    if not fresh[one.name] then place(one, one.measured or earlier.measured) end
  end
  local results = {}
  for _, case in ipairs(cases) do tables.append(results, by_work[case.name] or {}) end
  return tables.merged(record, {results = results})
end

--- Makes the page of a record as peers.json holds it, {measured = where, threads =, seconds = for
-- each peer, results = as compare.case makes them}: the results, a table on what the work is, and a
-- line for each result that is missing.
function report.page(record)
  local results, lines = record.results, {}
  local parts = {table_of_results(results), "What the work is:", table_of_work(results)}
  for _, one in ipairs(results) do
    if one.failed then
      lines[#lines + 1] = ("* %s: %s"):format(one.name, report.reason(one.failed))
    end
  end
  if #lines > 0 then
    parts[#parts + 1] = "Not compared:"
    parts[#parts + 1] = table.concat(lines, "\n")
  end
  parts[#parts + 1] = ("%s, %g s for each peer."):format(measured(record), record.seconds)
  local kept = kept_lines(results)
  if kept ~= "" then parts[#parts + 1] = "Measured elsewhere or earlier:\n\n" .. kept end
  return table.concat(parts, "\n\n")
end

-- ---------------------------------------------------------------- README

-- Returns a number of milliseconds as one reads it.
local function time_text(ms)
  return ms < 1000 and ("%.1f ms"):format(ms) or ("%.2f s"):format(ms / 1000)
end

--- Returns as Markdown the cases that have `brief`, each beside the fastest of its peers, and which
-- ratio of all results was the least.
function report.brief(record)
  local content = Table.new{"work", "ladies", "beside", "that takes", "times as long (quartiles)"}
  local places = {}
  for _, case in ipairs(cases) do
    local one = case.brief and closest(record.results, case.name)
    if one then
      local where = one.measured or record.measured
      if not places[where] then places[#places + 1] = where end
      places[where] = true
      content:add{case.brief, time_text(one.ours.whole), one.peer, time_text(one.theirs.whole),
        medians.text(one.ratio)}
    end
  end
  local least, count = nil, 0
  for _, one in ipairs(record.results) do
    if one.ratio then
      count = count + 1
      if not least or one.ratio.median < least.ratio.median then least = one end
    end
  end
  return ("%s\n\n%s. The least of all %d ratios is %.2f: %s, beside %s."):format(
    content:markdown(), measured(record, table.concat(places, "; ")), count, least.ratio.median,
    least.name, least.peer)
end

return report
