// `baton revoke`: an operator wants a name back.
#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "look/show.hpp"
#include "number.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton ls nightly                                        shows the holder's fence
  baton revoke nightly --fence 1794789647442064 --note "maintenance"
  baton revoke nightly --fence 1794789647442064 --now     without asking; see below

The fence is the proof that you looked: a later holder is not hit. The holder is asked to leave, and its claims pass on
when it does, at the latest when its session's present deadline ends; `baton run` stops its command in that time.
No process is killed. `baton run` shows the note. With --now the claims pass on at once, while the old holder may still be at work: that is outside of
what Baton promises, and only a resource that checks fences is safe.)";

struct texts {
    std::string name;
    std::string fence;
    std::string note;
    bool now = false;
    place_options place;
};

std::uint64_t fence_of(const texts& in) {
    if (const auto fence = parse_number<std::uint64_t>(in.fence)) return *fence;
    throw failure{exit_code::usage, "--fence " + printable(in.fence) + ": a number; `baton ls` shows it"};
}

/// The holder of the name under that fence.
const request_view& find_holder(const snapshot& seen, const std::string& name, std::uint64_t fence) {
    std::string fences;
    if (const resource_view* const resource = find_resource(seen, name)) {
        for (const claim_view& claim : resource->holders) {
            const request_view* const request = find_request(seen, claim.ticket);
            if (request == nullptr) continue;
            if (request->fence == fence) return *request;
            fences += (fences.empty() ? "" : ", ") + std::to_string(request->fence);
        }
    }
    throw failure{exit_code::no, "nobody holds " + printable(name) + " under the fence " + std::to_string(fence) +
                                     (fences.empty() ? "; it is not held" : "; it is held under " + fences)};
}

std::string what_happens(const texts& in, const request_view& before, const snapshot& after) {
    const std::string who = printable(before.label);
    const std::string name = printable(in.name);
    if (in.now)
        return "Took " + name + " from " + who +
               " at once. Its process is not killed and may still be at work; only a check of fences keeps it out.\n";
    const request_view* const request = find_request(after, before.ticket);
    if (request == nullptr) return who + " has left " + name + " already.\n";
    return "Asked " + who + " to leave " + name + ". What it holds passes on when it leaves, in " +
           show_duration(request->revoked_in.value_or(protocol::duration{0})) +
           " at the latest. Its process is not killed; if it is a `baton run`, that one stops its command.\n";
}

int revoke(const texts& in) {
    check_name(in.name);
    if (in.note.size() > protocol::bounds::note)
        throw failure{exit_code::usage, "--note: at most " + std::to_string(protocol::bounds::note) + " bytes"};
    const std::uint64_t fence = fence_of(in);
    const place place = in.place.made();
    client client = open_looking_client(place);
    const inspect_filter filter{inspect_filter::match::exact, in.name, false};
    const snapshot seen = look(client, place, filter);
    if (seen.foreign)
        throw failure{exit_code::configuration,
                      "revoke: the protocol of this dialect has no operators; see docs/dialects.md"};
    const request_view holder = find_holder(seen, in.name, fence);
    client.revoke(in.name, holder.ticket, in.note, in.now);
    return print(what_happens(in, holder, client.inspect(filter)));
}

}  // namespace

void add_revoke(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("revoke", "Ask a holder to leave");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "A name that it holds")->required();
    verb->add_option("--fence", in->fence, "Its fence, as `baton ls` shows it")->required()->type_name("N");
    verb->add_option("--note", in->note, "Why; shown to the holder and to those who look")->type_name("TEXT");
    verb->add_flag("--now", in->now, "Do not ask: pass its claims on at once");
    in->place.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->place.named_in([in] { return revoke(*in); }); });
}

}  // namespace baton::cli
