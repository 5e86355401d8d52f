import BusProtocol
import EventLoop
import ServiceRuntime

@main enum RecoveryMain {
    static func main() async { await ServiceProcess.main(RecoveryServiceDefinition.definition) }
}

/// How recovery is put together.
enum RecoveryServiceDefinition {
    static let definition = ServiceDefinition(
        name: .recovery, variables: variables, migrations: RecoveryMigrations.all, peers: [.auth], assemble: assemble)

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let policy = RecoveryPolicy(
            hold: try RecoveryHold.seconds(configuration),
            riskyHold: try configuration.duration("RECOVERY_HOLD_RISKY").components.seconds,
            perPhone: try configuration.integer("RECOVERY_PER_PHONE"),
            perAddressDay: try configuration.integer("RECOVERY_PER_ADDRESS_DAY"))
        let store = CaseStore(container: container, secrets: RecoverySecrets(container.keys), policy: policy)
        container.handle(RequestRecoveryHandler(store: store))
        container.handle(GetRecoveryCaseHandler(store: store))
        container.handle(DisputeRecoveryHandler(store: store))
        container.handle(CancelRecoveryHandler(store: store))
        container.handle(ListOwnCasesHandler(store: store))
        let bearers = BearerReader(container: container)
        container.handle(SetRecoveryLockHandler(store: store, bearers: bearers))
        let reviews = ReviewStore(store: store)
        let (reader, decider) = (ReviewerReader(container: container, bearers: bearers), Decider(reviews: reviews))
        container.handle(SubmitEvidenceHandler(store: store, reviews: reviews))
        container.handle(SubmitOwnerEvidenceHandler(store: store, reviews: reviews))
        container.handle(ListReviewsHandler(reviews: reviews))
        container.handle(GetReviewHandler(reviews: reviews))
        container.handle(ClaimReviewHandler(reviews: reviews, reader: reader))
        container.handle(ReleaseReviewHandler(reviews: reviews, reader: reader))
        container.handle(ApproveCaseHandler(decider: decider, reader: reader))
        container.handle(RejectCaseHandler(decider: decider, reader: reader))
        container.handle(DecideAsOperatorHandler(decider: decider))
        container.handle(
            ExportCasesHandler(export: PersonExport(database: container.database, sections: RecoveryExport.sections)))
        container.handle(AccountDeletedHandler(container: container) { store.erase($0, in: $1) })
        container.handle(RecoveryBeganHandler(store: store))
        container.handle(CompleteRecoveryHandler(store: store))
        container.handle(RecoveryAppliedHandler(store: store))
        container.handle(NotificationDeliveredHandler(store: store))
        let timers = CaseTimers(store: store)
        container.deliver(CaseStore.holdTimer) { try await timers.endHold($0) }
        container.deliver(CaseStore.neglectTimer) { try await timers.endWaiting($0) }
        let reconciler = CompletionReconciler(store: store)
        container.deliver(CaseStore.completionTimer) { try await reconciler.reconcile($0) }
        container.deliver(CaseStore.decoyTimer) { try await timers.decideDecoy($0) }
        let provider = try evidenceProvider(configuration)
        container.deliver(ReviewStore.evidence, apart: true) { try await reviews.judge($0, by: provider) }
        let notifier = store.notifier
        container.deliver(OwnerNotifier.gatheringTimer) { try await notifier.remind($0, .requested) }
        container.deliver(OwnerNotifier.middleTimer) { try await notifier.remind($0, .middle) }
        container.deliver(OwnerNotifier.lastHourTimer) { try await notifier.remind($0, .lastHour) }
    }

    private static func evidenceProvider(
        _ configuration: Configuration
    ) throws -> any IdentityEvidenceProvider {
        guard try configuration.text("RECOVERY_IDENTITY_PROVIDER") == "local" else { return ManualEvidenceProvider() }
        guard configuration.profile == .development else {
            throw ConfigurationError("RECOVERY_IDENTITY_PROVIDER: local is for the development profile only")
        }
        return LocalEvidenceProvider()
    }

    private static let variables: [ConfigurationVariable] = [
        RecoveryHold.variable,
        .init(
            "RECOVERY_HOLD_RISKY", .duration(1...1_209_600, mayBeOff: false), "168h",
            "The same for a number that was claimed three times within 30 days and for an account that sleeps; never less than RECOVERY_HOLD"
        ),
        .init(
            "RECOVERY_IDENTITY_PROVIDER", .choice(["manual", "local"]), "manual",
            "Who judges evidence of identity before the reviewers: nobody, or in development by how it begins"),
        .init("RECOVERY_PER_PHONE", .integer(1...100), "3", "Requests of a claimant's number within 30 days"),
        .init("RECOVERY_PER_ADDRESS_DAY", .integer(1...100_000), "20", "Requests from a client address within a day"),
    ]
}
