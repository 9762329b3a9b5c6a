// `baton revoke`: asks the holder of a name to release it.
#include "baton/printable.hpp"
#include "claim_spec.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "inspect/show.hpp"
#include "number.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton ls nightly                                        shows the holder's fence
  baton revoke nightly --fence 1794789647442064 --note "maintenance"
  baton revoke nightly --fence 1794789647442064 --now     without asking; see below

The fence makes sure that no later holder is revoked. The holder is asked to release: its grant ends when it releases,
or at the present deadline of its session at the latest. No process is killed, but `baton run` shows the note and stops
its command in that time. With --now the grant ends at once, while the holder may still be at work: Baton does not
guarantee exclusion then, and only a system that checks fences is protected.)";

struct texts {
    std::string name;
    std::string fence;
    std::string note;
    bool now = false;
    address_options address;
};

std::uint64_t fence_of(const texts& in) {
    if (const auto fence = parse_number<std::uint64_t>(in.fence)) return *fence;
    throw failure{exit_code::usage, "--fence " + printable(in.fence) + ": a number is expected; `baton ls` shows it"};
}

/// The holder of the name with that fence.
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
    throw failure{exit_code::no, "cannot revoke " + printable(name) + ": no holder has the fence " +
                                     std::to_string(fence) +
                                     (fences.empty() ? "; it is not held" : "; it is held under " + fences)};
}

std::string what_happens(const texts& in, const request_view& before, const snapshot& after) {
    const std::string holder = printable(before.label);
    const std::string name = printable(in.name);
    if (in.now)
        return "Revoked " + name + " from " + holder +
               " at once. Its process is not killed and may still be at work; only a check of fences stops its "
               "writes.\n";
    const request_view* const request = find_request(after, before.ticket);
    if (request == nullptr) return holder + " has released " + name + " already.\n";
    return "Asked " + holder + " to release " + name + ". Its grant ends when it releases, in " +
           show_duration(request->revoked_in.value_or(protocol::duration{0})) +
           " at the latest. Its process is not killed, but a `baton run` stops its command.\n";
}

int revoke(const texts& in) {
    check_name(in.name);
    if (in.note.size() > protocol::bounds::note)
        throw failure{exit_code::usage, "--note: at most " + std::to_string(protocol::bounds::note) + " bytes"};
    const std::uint64_t fence = fence_of(in);
    const store_address address = in.address.made();
    client client = open_inspecting_client(address);
    const inspect_filter filter{inspect_filter::match::exact, in.name, false};
    const snapshot seen = inspect_at(client, address, filter);
    if (seen.foreign)
        throw failure{exit_code::configuration,
                      "cannot revoke " + printable(in.name) +
                          ": the protocol of this dialect does not support it; see docs/dialects.md"};
    const request_view holder = find_holder(seen, in.name, fence);
    client.revoke(in.name, holder.ticket, in.note, in.now);
    return print(what_happens(in, holder, client.inspect(filter)));
}

}  // namespace

void add_revoke(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("revoke", "Ask the holder of a name to release it");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("NAME", in->name, "The name")->required();
    verb->add_option("--fence", in->fence, "The holder's fence, as `baton ls` shows it")->required()->type_name("N");
    verb->add_option("--note", in->note, "The reason, shown to the holder and in `ls`")->type_name("TEXT");
    verb->add_flag("--now", in->now, "Do not ask: end the grant at once");
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return revoke(*in); }); });
}

}  // namespace baton::cli
