// `baton doctor`: examines the server or the agent of an address, and says what to do.
#include <chrono>
#include <optional>

#include "doctor/report.hpp"
#include "duration.hpp"
#include "exit_codes.hpp"
#include "failure.hpp"
#include "program/doctor.hpp"
#include "verbs.hpp"

namespace baton::cli {
namespace {

constexpr const char* examples = R"(Examples:
  baton doctor                            the agent of this user, or the server of BATON_URL
  baton doctor redis://db.example/0       a server, as a client of this user and machine sees it
  baton doctor --ttl 2s                   compare with the ttl that your programs use
  baton doctor --json                     for programs: one JSON object on one line

doctor only reads. Each line says ok, warn, WRONG, or ? for what this user may not read.
Exit code: 0 if all is well, 1 for a warning or a fault, 69 if the server or agent does not reply.)";

struct texts {
    std::string url;
    std::string ttl;
    bool json = false;
    address_options address;
};

store_address address_in(const texts& in) {
    if (!in.url.empty() && !in.address.url.empty()) throw failure{exit_code::usage, "URL and --url: one or the other"};
    return make_address(in.url.empty() ? in.address.url : in.url, in.address.space);
}

detail::diagnosis examine(const std::string& url, const detail::doctor_options& options) {
    constexpr std::string_view local = "local:";
    refuse_memory(url);
    if (url.starts_with(local))
        return detail::examine_agent(detail::parse_local_address(std::string_view{url}.substr(local.size())), options);
    return detail::examine_redis(url, options);
}

int doctor(const texts& in) {
    const store_address address = address_in(in);
    detail::doctor_options options;
    if (!in.ttl.empty()) options.ttl = parse_duration(in.ttl);
    if (!in.ttl.empty() && options.ttl.value_or(std::chrono::milliseconds{0}).count() == 0)
        throw failure{exit_code::usage, std::string{"--ttl: "} + durations_allowed};
    const detail::diagnosis found = examine(address_of(address), options);
    const std::string agent = agent_meant(address);
    const int code = print(in.json ? report_json(shown(address), found)
                                   : report_text(agent.empty() ? shown(address) : agent, found));
    if (code != number(exit_code::ok)) return code;
    if (!found.reachable) return number(exit_code::unreachable);
    return number(is_healthy(found) ? exit_code::ok : exit_code::no);
}

}  // namespace

void add_doctor(CLI::App& app, action& chosen) {
    CLI::App* const verb = app.add_subcommand("doctor", "Examine a server or agent, and say what to do");
    const auto in = std::make_shared<texts>();
    verb->footer(examples);
    verb->add_option("URL", in->url, "The address; default: --url, BATON_URL, else local: (this user's agent)");
    verb->add_option("--ttl", in->ttl,
                     "The ttl of your leases; round trips and slow calls are compared with it; default: 10s")
        ->type_name("TIME");
    verb->add_flag("--json", in->json, "Print JSON");
    in->address.add_to(*verb);
    verb->callback([in, &chosen] { chosen = in->address.named_in([in] { return doctor(*in); }); });
}

}  // namespace baton::cli
