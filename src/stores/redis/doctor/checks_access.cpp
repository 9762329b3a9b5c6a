// Checks of access: which machines and users can reach the server, read its traffic, and use it.
#include "baton/printable.hpp"
#include "stores/redis/doctor/checks.hpp"
#include "stores/redis/missing_rights.hpp"

namespace baton::redis {
namespace {

constexpr const char* rights_advice = "give it the rights of client.acl or viewer.acl (docs/redis.md, Rights)";
constexpr std::chrono::hours renewal_due{24 * 14};

/// Whether clients on other machines can connect, if the default user has no password.
bool is_open_to_others(const server_facts& facts) {
    if (text_of(facts.config, "protected-mode") != "no") return false;
    for (const std::string_view local : {"127.0.0.1", "127.0.0.1 ::1", "127.0.0.1 -::1", "localhost", "::1"})
        if (text_of(facts.config, "bind") == local) return false;
    return true;
}

/// Whether a client without name and password has every right.
bool default_user_is_open(const server_facts& facts) {
    const answer<user_facts>& user = facts.default_user;
    return user && user->is_on && user->no_password && user->all_commands && user->all_keys;
}

}  // namespace

checked check_tls(const server_facts& facts) {
    if (!facts.tls) {
        if (facts.is_on_this_machine) return ok("not encrypted, and the server is on this machine");
        return warn("not encrypted: the network can read the password and change commands",
                    "use rediss:// and the server's tls-port, or an encrypted tunnel");
    }
    const std::string what = facts.tls->protocol + ", " + facts.tls->cipher;
    const auto left = std::chrono::duration_cast<microseconds>(facts.tls->certificate_left);
    if (facts.address.tls.insecure)
        return warn(what + "; tls_insecure=on: the server's certificate is not verified",
                    "remove tls_insecure, and name the authority's certificate with tls_ca");
    const std::string text = what + "; the server's certificate is valid for " + shown(left);
    if (facts.tls->certificate_left < renewal_due) return warn(text, "renew the server's certificate");
    return ok(text);
}

checked check_password(const server_facts& facts) {
    if (!facts.user) return not_checked(facts.user.missing);
    const std::string user = "user " + printable(facts.user->name);
    const bool has_certificate = !facts.address.tls.cert.empty();
    if ((!facts.user->no_password || has_certificate) && default_user_is_open(facts)) {
        const std::string text = user + (facts.user->no_password ? " shows a certificate" : " has a password") +
                                 ", but the user default has none, and every right";
        const std::string close = "ACL SETUSER default off, or resetpass >PASSWORD, and ACL SAVE or CONFIG REWRITE";
        if (!facts.is_on_this_machine || is_open_to_others(facts))
            return warn(text + "; other machines reach the server", close);
        return ok(
            text + (facts.config ? "; only this machine reaches the server"
                                 : "; whether other machines reach the server is not known: " + facts.config.missing),
            close);
    }
    if (!facts.user->no_password) return ok(user + " has a password");
    if (has_certificate) return ok(user + " has no password; the client shows a certificate");
    const std::string advice = "set a password: ACL SETUSER " + printable(facts.user->name) +
                               " resetpass >PASSWORD, or create a user for Baton (docs/redis.md, Rights)";
    if (!facts.is_on_this_machine)
        return wrong("every program that reaches the server can use it: " + user + " has no password", advice);
    if (is_open_to_others(facts))
        return warn(user + " has no password, and the server listens for other machines (protected-mode no)", advice);
    return ok(user + " has no password, and only this machine reaches the server");
}

checked check_rights(const server_facts& facts) {
    if (!facts.rights) {
        // Viewers need these rights, too.
        for (const std::string* missing : {&facts.clock.missing, &facts.space.missing})
            if (missing->starts_with(may_not_run)) return wrong(*missing + ", which Baton needs", rights_advice);
        const bool needs_library = facts.has_library && !*facts.has_library;
        return outcome{detail::verdict::unknown, "not checked: " + facts.rights.missing,
                       needs_library
                           ? "load the library (see the check library), and run doctor again"
                           : "run `baton ls` with this user: its handshake checks all rights, and names those "
                             "that are missing"};
    }
    const std::string inspecting = facts.rights->only_inspects ? "this user may only inspect" : "";
    if (!facts.rights->refusal.empty()) {
        std::string missing = missing_rights_advice(facts.address, facts.rights->refusal);
        if (missing.empty()) missing = "the server refuses the functions: " + printable(facts.rights->refusal);
        return wrong((inspecting.empty() ? "" : inspecting + ", and lacks a right for that: ") + missing,
                     rights_advice);
    }
    if (!inspecting.empty()) return ok(inspecting + ", and has all rights for that");
    if (facts.rights->commands.empty()) return ok("the user may run all commands that Baton needs in this space");
    std::string list;
    for (const std::string& each : facts.rights->commands) list += (list.empty() ? "" : ", ") + each;
    return wrong("the user may not run what Baton needs in this space: " + list, rights_advice);
}

checked check_excess_rights(const server_facts& facts) {
    if (!facts.user) return {};
    if (!facts.user->all_commands && !facts.user->all_keys) return {};
    const std::string what = facts.user->all_commands ? "every command" : "commands on every key";
    return ok("the user may run " + what + ", which is more than Baton needs",
              "to protect other data on this server, give Baton a user of its own (docs/redis.md, Rights)");
}

}  // namespace baton::redis
