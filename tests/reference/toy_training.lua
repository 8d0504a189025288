--- Short runs of ladies.train on the toy data, for tests.
local json = require "ladies.base.json"
local ladies = require "ladies"
local lu = require "luaunit"
local toy = require "reference.toy_data"

local M = {}

--- Options of a short run; `own` are added to them.
function M.options(own)
  local data = own.data or toy.new()
  local opts = {
    data = data, sampler = toy.neighbourhoods(data.graph:normalize "sym", 2),
    model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
      dropout = 0.2},
    batch_size = 20, eval_every = 5, patience = 0, quiet = true,
  }
  for key, value in pairs(own) do opts[key] = value end
  if not opts.optimizer then opts.lr = opts.lr or 0.02 end
  return opts
end

--- The one line with which a short run of such options is refused.
function M.complaint(own)
  local ok, message = pcall(ladies.train, M.options(own))
  lu.assertFalse(ok)
  lu.assertNil(message:find "\n")
  return message
end

--- All parameters of a model, as one text.
function M.weights(model)
  local all = {}
  for _, parameter in ipairs(ladies.nn.named_parameters(model)) do
    all[#all + 1] = parameter.name .. " " .. parameter.tensor:hash()
  end
  return table.concat(all, "\n")
end

--- The lines of the log in a folder: those of batches and those of validations.
function M.log(folder)
  local batches, validations = {}, {}
  for line in io.lines(folder .. "/log.jsonl") do
    local record = json.decode(line)
    table.insert(record.validation and validations or batches, record)
  end
  return batches, validations
end

return M
