/* Texts that say what data sets there are; records.lua reads them. The first byte of an input says
 * which: R, a registry; anything else, the record of a cached data set, in JSON. */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_lua.h"

enum { CORE_ALWAYS = 1 << 22, BYTES_PER_BYTE = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    char path[200];
    if (size < 1)
        return 0;
    if (!L) {
        snprintf(path, sizeof path, "%s/registry.txt", fuzz_folder());
        setenv("LADIES_REGISTRY", path, 1);
        setenv("LADIES_CACHE", fuzz_folder(), 1);
        setenv("LADIES_OFFLINE", "1", 1);
        L = fuzz_lua_start("records.lua");
    }
    bool registry = data[0] == 'R';
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), registry ? "registry.txt" : "toy.json");
    FILE *f = fopen(path, "wb");
    FUZZ_REQUIRE(f && fwrite(data + 1, 1, size - 1, f) == size - 1 && fclose(f) == 0, "%s: %s",
                 path, strerror(errno));
    fuzz_lua_call(L, path, registry ? "registry" : "record", (int64_t)size,
                  CORE_ALWAYS + (int64_t)size * BYTES_PER_BYTE);
    return 0;
}
