// The backup renewer of `baton run`: sends the session to the guardian, which renews it while baton is stopped, and
// gives the result to the client.
#pragma once

#include <mutex>
#include <string>

#include "program/stand_in.hpp"
#include "run/guardian.hpp"

namespace baton::cli {

class guardian_stand_in final : public detail::stand_in {
public:
    guardian_stand_in(guardian& guardian, std::string address, milliseconds ttl)
        : guardian_{guardian}, kept_{.address = std::move(address), .session = {}, .ttl = ttl} {}

    void keep(const protocol::session_id& session, lineage lineage) noexcept override {
        kept_session kept;
        {
            const std::lock_guard lock{mutex_};
            kept_.session = session;
            kept_.lineage = lineage;
            ++kept_.number;
            kept = kept_;
        }
        // Without the lock: if the guardian is stopped, this call may block, and `renewed` must not wait for it.
        guardian_.channel().send(order{kept});
    }
    [[nodiscard]] std::optional<detail::client_time> renewed(const protocol::session_id& session,
                                                             lineage lineage) noexcept override {
        const std::lock_guard lock{mutex_};
        if (kept_.session != session || kept_.lineage != lineage) return {};
        return guardian_.page().renewal_of(kept_.number);
    }

private:
    guardian& guardian_;
    std::mutex mutex_;
    kept_session kept_;
};

}  // namespace baton::cli
