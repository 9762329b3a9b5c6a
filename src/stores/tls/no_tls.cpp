// For builds without TLS.
#include "baton/error.hpp"
#include "stores/tls/tls_client.hpp"

namespace baton::detail {

bool has_tls() { return false; }

tls_client make_tls_client(const tls_settings&, const std::string&) {
    return {nullptr, {errc::unsupported, "this build of Baton has no TLS; build it with -D BATON_TLS=ON"}};
}

}  // namespace baton::detail
