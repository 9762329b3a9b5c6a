// Tests of any store, on Redis with a private server.
#include "../redis/private_server.hpp"
#include "any_store.hpp"

namespace baton::client_tests {
namespace {

class server_of_its_own final : public any_store {
public:
    // A server that has just started may have lost data: without the option its space would begin with a pause.
    [[nodiscard]] std::string url() const override { return server_.url() + "?pause=off"; }
    [[nodiscard]] std::size_t allocations_allowed() const override { return 12; }
    void stop() const override { server_.stop(); }
    void go_on() const override { server_.go_on(); }

private:
    redis_tests::private_server server_;
};

}  // namespace

std::unique_ptr<any_store> start_store() {
    if (!redis_tests::find_server()) return nullptr;
    return std::make_unique<server_of_its_own>();
}

}  // namespace baton::client_tests
