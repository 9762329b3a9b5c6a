// redis:// passes the contract suite, on the server in BATON_REDIS_SERVER, else on Debian's Redis. Each case has its
// own space, and a user for it with the rights of packaging/redis/client.acl and no others. An administrator has loaded
// the functions.
#include <stdexcept>

#include "../redis/acl_files.hpp"
#include "../redis/private_server.hpp"
#include "baton/contract/suite.hpp"
#include "program/function_library.hpp"

namespace {

using namespace baton::redis_tests;

class server_with_users {
public:
    server_with_users() {
        if (server_.ask({"FUNCTION", "LOAD", std::string{baton::redis::server_library().text}}).text !=
            baton::redis::server_library().name)
            throw std::runtime_error{"the library cannot be loaded"};
    }
    std::string url_of(const std::string& space) const {
        std::vector<std::string> words{"ACL", "SETUSER", space, "on", ">secret"};
        const std::vector<std::string> rules = acl_rules("client", space);
        words.insert(words.end(), rules.begin(), rules.end());
        if (server_.ask(words).text != "OK") throw std::runtime_error{"no user for " + space};
        // A server that has just started may have lost data: a space on it would begin with a pause.
        return "redis://" + space + ":secret@127.0.0.1:" + std::to_string(server_.tcp().port) +
               "/0?pause=off&space=" + space;
    }

private:
    private_server server_{{.tcp = true, .settings = {"--aclfile", acl_file("client")}}};
};

const bool added = baton::contract::add({
    .name = "redis",
    .fresh_space =
        [] {
            static const server_with_users server;
            const std::string url = server.url_of(baton::contract::fresh_name());
            return [url] { return baton::make_store(url); };
        },
});

}  // namespace
