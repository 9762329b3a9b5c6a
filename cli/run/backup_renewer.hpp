// The backup renewer of `baton run`: sends the session to the guardian, which renews it while baton is stopped, and
// gives the result to the client.
#pragma once

#include <mutex>
#include <string>

#include "program/backup_renewer.hpp"
#include "run/guardian.hpp"

namespace baton::cli {

class guardian_renewer final : public detail::backup_renewer {
public:
    guardian_renewer(guardian& guardian, std::string address, milliseconds ttl)
        : guardian_{guardian}, kept_{.address = std::move(address), .session = {}, .ttl = ttl} {}

    void keep(const protocol::session_id& session, epoch epoch) noexcept override {
        kept_session kept;
        {
            const std::lock_guard lock{mutex_};
            kept_.session = session;
            kept_.epoch = epoch;
            ++kept_.number;
            kept = kept_;
        }
        // Without the lock: if the guardian is stopped, this call may block, and `renewed` must not wait for it.
        guardian_.channel().send(order{kept});
    }
    [[nodiscard]] std::optional<detail::client_time> renewed(const protocol::session_id& session,
                                                             epoch epoch) noexcept override {
        const std::lock_guard lock{mutex_};
        if (kept_.session != session || kept_.epoch != epoch) return {};
        return guardian_.page().renewal_of(kept_.number);
    }

private:
    guardian& guardian_;
    std::mutex mutex_;
    kept_session kept_;
};

}  // namespace baton::cli
