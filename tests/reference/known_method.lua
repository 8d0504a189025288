--- Methods in files of their own whose mini-batches have a size that is known.
local files = require "tools.files"
local temporary = require "reference.temporary"

local known_method = {}

--- The path of a file with a method whose every layer has the seeds, and `times` entries in a row
-- for each sample; its mini-batches say that a sample takes so many milliseconds (`ms`, 0).
function known_method.file(name, times, ms)
  return files.write(temporary.path(name .. ".lua"), ([[
    local ladies = require "ladies"
    return function(P, settings)
      return function(seeds)
        local n, s, rows, cols = #seeds, settings.samples, {}, {}
        for i = 1, n do
          for k = 1, math.min(n, %d * s) do
            rows[#rows + 1], cols[#cols + 1] = i, (i + k) %% n + 1
          end
        end
        local block = {dst = seeds, src = seeds, adj = ladies.matrix{n_rows = n, n_cols = n,
          rows = ladies.index(rows), cols = ladies.index(cols)}}
        local blocks = {}
        for l = 1, settings.layers do blocks[l] = block end
        return {blocks = blocks, input = seeds, output = seeds, ms = %g * s}
      end
    end]]):format(times, ms or 0))
end

return known_method
