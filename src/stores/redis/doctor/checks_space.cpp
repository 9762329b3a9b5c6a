// Checks of the space, and of the function library that serves it.
#include <algorithm>

#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/function_library.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::redis {
namespace {

bool is_readable(const server_facts& facts) { return facts.space && facts.space->exists && !facts.space->is_foreign; }

}  // namespace

checked check_library(const server_facts& facts) {
    if (!facts.has_library) return not_checked(facts.has_library.missing);
    const std::string library = "the library " + facts.library;
    if (*facts.has_library) return ok(library + " is loaded");
    const std::string load = "baton functions print | redis-cli -x FUNCTION LOAD";
    if (!facts.may_load)
        return warn(
            library + " is not loaded, and it is not known whether this user may load it: " + facts.may_load.missing,
            "as an administrator: " + load);
    if (!*facts.may_load)
        return wrong(library + " is not loaded, and this user may not load it", "as an administrator: " + load);
    if (!facts.other_users.empty())
        return warn(library + " is not loaded; this user may load it, but users with the rights of client.acl may not",
                    "load it for them: " + load);
    return ok(library + " is not loaded; the first client of this user loads it",
              "for users with the rights of client.acl, who may not load it: " + load);
}

checked check_old_libraries(const server_facts& facts) {
    if (!facts.libraries) return {};
    std::string others;
    std::string commands;
    std::size_t count = 0;
    for (const std::string& name : *facts.libraries) {
        if (name == facts.library || ++count > 5) continue;
        others += (others.empty() ? "" : ", ") + printable(name);
        commands += (commands.empty() ? "FUNCTION DELETE " : "; FUNCTION DELETE ") + printable(name);
    }
    if (others.empty()) return ok("no library of another version");
    if (count > 5) others += " and " + std::to_string(count - 5) + " more";
    return warn(counted(static_cast<std::int64_t>(count), "library") + " of other versions: " + others,
                "when no client of that version runs any more: " + commands);
}

checked check_space(const server_facts& facts) {
    if (!facts.space) return not_checked(facts.space.missing);
    const space_facts& space = *facts.space;
    const std::string name = "space " + facts.address.space;
    if (space.is_foreign)
        return wrong(name + ": its keys hold data that is not Baton's",
                     "use another space, or remove the keys that begin with baton:{" + facts.address.space + "}:");
    if (!space.exists) return ok(name + " does not exist yet; the first client makes it");
    if (space.layout != layout_version)
        return wrong(name + " has layout version " + std::to_string(space.layout.value_or(0)) +
                         ", and this baton uses " + std::to_string(layout_version),
                     "use the version of Baton that made it, or another space (docs/operating.md)");
    return ok(name + ": layout version " + std::to_string(layout_version) + ", epoch " + space.epoch + ", " +
              counted(space.sessions, "session") + ", " + counted(space.pauses, "pause") + " so far");
}

checked check_settings(const server_facts& facts) {
    const detail::redis_address& address = facts.address;
    if (!is_readable(facts)) {
        if (facts.ttl <= address.max_ttl) return {};
        return wrong("a ttl of " + detail::duration_text(facts.ttl) + " is above the max_ttl of the address, " +
                         detail::duration_text(address.max_ttl),
                     "use a shorter ttl, or write a larger max_ttl into all addresses of a new space");
    }
    const space_facts& space = *facts.space;
    const std::string text = "max_ttl=" + detail::duration_text(space.max_ttl) +
                             ", lag=" + detail::duration_text(space.lag) + ", pause " + (space.pause ? "on" : "off");
    if (space.max_ttl != address.max_ttl || space.lag != address.lag || space.pause != address.pause)
        return wrong("the space has " + text + ", and this address says max_ttl=" +
                         detail::duration_text(address.max_ttl) + ", lag=" + detail::duration_text(address.lag) +
                         ", pause " + (address.pause ? "on" : "off") + ": clients with this address are refused",
                     "to use this space, write ?max_ttl=" + detail::duration_text(space.max_ttl) +
                         "&lag=" + detail::duration_text(space.lag) + (space.pause ? "" : "&pause=off") +
                         " into the address; for other settings use a new space, or delete the keys baton:{" +
                         address.space + "}:* while all clients are stopped");
    if (!space.pause)
        return warn(text + ": after a loss of state a name may have two holders",
                    "use a space without pause=off where that must not happen");
    if (facts.ttl > space.max_ttl)
        return wrong(text + ": a ttl of " + detail::duration_text(facts.ttl) + " is above max_ttl, and is refused",
                     "use a shorter ttl, or a new space with a larger max_ttl");
    if (space.max_ttl < space.lag + std::chrono::seconds{2})
        return warn(text + ": a backup or a first replica pauses the space, because max_ttl is less than lag and 2 s",
                    "use a larger max_ttl in a new space");
    return ok(text);
}

checked check_pause(const server_facts& facts) {
    if (!is_readable(facts) || !facts.clock) return {};
    const microseconds left = facts.space->paused_until - facts.clock->server;
    if (left.count() <= 0) return ok("the space is not paused");
    return warn("the space is paused for " + shown(left) + ": the server may have lost state, and clients reclaim",
                "wait; if it happens again, see the server's log for restarts and failovers");
}

}  // namespace baton::redis
