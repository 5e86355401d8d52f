import BusProtocol

extension Route {
    /// All error codes that a request to this route can get, from its message and from the gateway itself.
    var refusals: Set<ErrorCode> {
        var codes: Set<ErrorCode> = [.malformedRequest, .requestTimeout, .bodyTooLarge, .headersTooLarge]
        switch self.target {
        case .local(let answer): return codes.union(Self.refusals(of: answer))
        case .webSession(let act):
            codes.insert(.forbidden)
            if act == .renew { codes.formUnion(RefreshToken.rules.errors) }
        case .export: codes.formUnion(ExportAccount.rules.errors)
        case .message: codes.formUnion(binding?.rules.errors ?? [])
        }
        codes.formUnion([.rateLimited, .overloaded, .serviceUnavailable, .deadlineExceeded, .internalError])
        return codes.union(Self.refusals(of: self.access)).union(refusalsOfRequest)
    }

    private static func refusals(of answer: LocalAnswer) -> Set<ErrorCode> {
        switch answer {
        case .health: []
        case .readiness: [.serviceUnavailable]
        case .openAPI, .docs: [.rateLimited]
        case .guide: [.rateLimited, .notFound]
        case .signingKeys: [.serviceUnavailable, .rateLimited]
        case .metrics, .services: [.unauthorized, .rateLimited]
        }
    }

    private static func refusals(of access: Access) -> Set<ErrorCode> {
        switch access {
        case .public: []
        case .ops, .recoveryToken: [.unauthorized]
        case .anybody, .user, .userOrMember: [.unauthorized, .tokenExpired, .tokenRevoked]
        case .staff, .admin: [.unauthorized, .tokenExpired, .tokenRevoked, .forbidden]
        }
    }

    private var refusalsOfRequest: Set<ErrorCode> {
        var codes: Set<ErrorCode> = []
        if bodySchema != nil { codes.formUnion([.unsupportedMediaType, .validationFailed]) }
        for addition in additions {
            switch addition.source {
            case .path: codes.insert(.notFound)
            case .query: codes.insert(.validationFailed)
            case .header, .recoveryToken, .body: break
            }
        }
        if self.method == .post, let effect = binding?.rules.effect, effect != .read {
            codes.formUnion([.idempotencyKeyReused, .requestInProgress, .idempotencyAnswerGone])
        }
        return codes
    }
}
