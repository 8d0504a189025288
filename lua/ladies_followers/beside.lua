--- How a mean of ours stands beside a published number.

local statistics = require "ladies.report.statistics"
local test_f1 = require "ladies.study.test_f1"

--- beside(variant, published) -> text: "confirmed" where the 95 % interval of the variant's test F1
-- (see ladies.study.repeated) has the published number, in percent, else "above" or "below", where
-- our mean is; "-" without that number, or with fewer than two runs.
return function(variant, published)
  local f1 = statistics.present(test_f1.of(variant))
  if not published or #f1 < 2 then return "-" end
  local off = statistics.mean(f1) - published
  return math.abs(off) <= statistics.half_width(f1) and "confirmed" or off > 0 and "above"
    or "below"
end
