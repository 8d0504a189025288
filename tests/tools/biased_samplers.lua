--- Plants the faults of biased_samplers/faults.lua, which average out, in an unbiased sampler, and
-- tells what ladies.lab says of each, with its usual settings:
--
--   build/bin/ladies tests/tools/biased_samplers.lua --datasets wordnet --sizes 0.3,0.1,0.05
--
-- A fault is reported where one sentence has its layer and its kind.
package.path = arg[0]:match "^(.*)/tools/" .. "/?.lua;" .. package.path

local cli = require "ladies.command.cli"
local faults = require "tools.biased_samplers.faults"
local ladies = require "ladies"
local splits = require "ladies.data.splits"

local LAYERS = 2

-- Tells whether one of the texts has layer and kind.
local function is_told(list, layer, kind)
  for _, one in ipairs(list) do
    local text = one.text
    if text:find(("layer %d "):format(layer), 1, true) and text:find(kind, 1, true) then
      return true
    end
  end
  return false
end

-- Examines a fault of a size in a layer; prints what is said, and returns whether it is reported.
local function try(data, fault, size, layer, opts)
  local sampler = faults.sampler(fault, {size = size, layer = layer, layers = LAYERS,
    samples = opts.samples})
  local one = ladies.lab(sampler, {dataset = data, against = {}, seconds = opts.seconds,
    quiet = true}).examinations[1]
  local told = is_told(one.faults, layer, fault.kind)
  print(("%s %-10s %-18s size %-5g layer %d: %s"):format(told and "told" or "NOT ", data.name,
    fault.name, size, layer, one.verdict))
  io.stdout:flush()
  return told
end

cli.main({
  name = "biased_samplers.lua",
  about = "Plants faults that average out in an unbiased sampler, and tells which are found.",
  {"datasets", "NAME,...", "string", default = "wordnet", help = "names or paths"},
  {"sizes", "X,...", "string", default = "0.3,0.1,0.05", help = "of the faults"},
  {"samples", "N", "positive integer", default = 512, help = "of the sampler"},
  {"seconds", "S", "positive number", default = 10, help = "of ladies.lab"},
}, arg, function(opts)
  local count, told = 0, 0
  for _, name in ipairs(cli.words(opts.datasets)) do
    local data = ladies.data.load(name)
    splits.complete("biased_samplers.lua", data)
    for f, fault in ipairs(faults) do
      for i, size in ipairs(cli.words(opts.sizes)) do
        count = count + 1
        if try(data, fault, tonumber(size), 1 + (f + i) % LAYERS, opts) then told = told + 1 end
      end
    end
  end
  print(("%d of %d faults are told with layer and kind"):format(told, count))
end)
