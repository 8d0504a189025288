-- ladies bench since: writes below the tables of doc/ what has changed since they were made. To be
-- called when a page has new tables, and with --why when a sampler, a network or a default computes
-- otherwise than before, which tests/experiments/test_bench_since.lua finds.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local commit = require "ladies.base.commit"
local computed = require "experiments.bench.computed"
local json = require "ladies.base.json"
local since = require "experiments.bench.since"

local spec = {
  name = "ladies bench since",
  about = [[Writes a line below each table of doc/ whose numbers would come out otherwise today, and
    keeps in doc/computed.json what the program computes.]],
  {"why", "TEXT", "string", help = "what has changed, in a few words"},
}

-- `states` are those of doc/computed.json: what the program computes, and the commits that compute
-- it. `unknown` are the commits named by a page that belong to no state: this program's own is
-- added to the last state, any other one is an error.
local function place(states, unknown, page)
  local own = (commit() or ""):gsub("%+", "")
  for _, hash in ipairs(unknown) do
    if hash:gsub("%+", "") ~= own then
      error(("doc/%s.md names the commit %s, of which doc/computed.json tells nothing: call "
        .. "`ladies bench since` with the program of that commit first"):format(page, hash), 0)
    end
    if not since.state_of(states, own) then table.insert(states[#states].commits, own) end
  end
end

cli.main(spec, arg, function(opts)
  local doc = core.real_path(ladies.home() .. "/doc")
  local path = doc .. "/computed.json"
  local states = core.exists(path) and json.decode(core.file.read(path)) or {}
  local changed = since.extended(states, computed.now(), opts.why)
  if #changed > 0 and not opts.why then
    error(("these compute otherwise than before, so say what has changed with --why: %s"):format(
      table.concat(changed, "; ")), 0)
  end
  for _, page in ipairs(since.PAGES) do
    local name = ("%s/%s.md"):format(doc, page)
    local text = core.file.read(name)
    local _, unknown = since.remade(page, text, states)
    place(states, unknown, page)
    core.file.write(name, (since.remade(page, text, states)))
  end
  core.file.write(path, json.encode(states) .. "\n")
end)
