--- Runs in turn, in this process.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local one_run = require "ladies.study.one_run"

local in_turn = {}

--- Trains the `runs`, one after the other; the options are those of ladies.study.side_by_side.run,
-- and `data`, a data set for all of them instead of each run's own.
function in_turn.run(runs, opts)
  local before = core.threads()
  local _ <close> = setmetatable({}, {__close = function() core.threads(before) end})
  core.threads(opts.threads)
  local data, source = opts.data, nil
  for _, run in ipairs(runs) do
    local ok, record = errors.try(function()
      local wanted = one_run.source(run.config)
      if not opts.data and wanted ~= source then
        data, source = nil, nil
        data, source = one_run.load(run.config), wanted
      end
      return one_run.train(run, {data = data, tick = opts.tick})
    end)
    if ok then
      opts.finished(record)
    else
      opts.failed(run, tostring(record))
    end
  end
end

return in_turn
