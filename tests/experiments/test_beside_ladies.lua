--- Measurements of samplers beside LADIES: what the samplers are called with.
local lu = require "luaunit"
local ladies = require "ladies"
local beside_ladies = require "experiments.bench.beside_ladies"
local context = require "ladies.lab.context"
local subject = require "ladies.lab.subject"
local toy = require "reference.toy_data"

local tests = {}

--- The mini-batches that are timed have places of a training: epochs and indexes from 1 on.
function tests.test_places()
  local shared = context.new(toy.new(true), {layers = 2, hidden = 4, batch_size = 20, steps = 0,
    seed = 1})
  local places = {}
  local one = subject.of("test", {name = "places", sampler = function(P)
    local full = ladies.samplers.full(P, {layers = 2})
    return function(seeds, rng, place)
      places[#places + 1] = place
      return full(seeds, rng, place)
    end
  end}, shared.data, {layers = 2, hidden = 4, batch_size = 20, seed = 1})
  local run = beside_ladies.run(shared, one, 2)
  places = {}
  local times = beside_ladies.times(run, run, 3)
  lu.assertEquals({#times, #places > 0}, {2, true})
  for _, place in ipairs(places) do
    lu.assertEquals({place.epoch, place.index >= 1}, {1, true})
  end
end

return tests
