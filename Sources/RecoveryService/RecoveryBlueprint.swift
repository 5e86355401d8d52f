import BusProtocol
import EventLoop
import ServiceRuntime

@main enum RecoveryMain {
    static func main() async { await ServiceProcess.main(RecoveryBlueprint.blueprint) }
}

/// How recovery is put together.
enum RecoveryBlueprint {
    static let blueprint = ServiceBlueprint(
        name: .recovery, variables: variables, migrations: RecoveryMigrations.all, peers: [.auth], assemble: assemble)

    @Loop private static func assemble(_ house: ServiceHouse) throws {
        let configuration = house.configuration
        let policy = RecoveryPolicy(
            hold: try RecoveryHold.seconds(configuration),
            riskyHold: try configuration.duration("RECOVERY_HOLD_RISKY").components.seconds,
            perPhone: try configuration.integer("RECOVERY_PER_PHONE"),
            perAddressDay: try configuration.integer("RECOVERY_PER_ADDRESS_DAY"))
        let store = CaseStore(house: house, secrets: RecoverySecrets(house.keys), policy: policy)
        house.handle(RequestRecoveryHandler(store: store))
        house.handle(GetRecoveryCaseHandler(store: store))
        house.handle(DisputeRecoveryHandler(store: store))
        house.handle(CancelRecoveryHandler(store: store))
        house.handle(ListOwnCasesHandler(store: store))
        let bearers = BearerReader(house: house)
        house.handle(SetRecoveryLockHandler(store: store, bearers: bearers))
        let reviews = ReviewStore(store: store)
        let (reader, decider) = (ReviewerReader(house: house, bearers: bearers), Decider(reviews: reviews))
        house.handle(SubmitEvidenceHandler(store: store, reviews: reviews))
        house.handle(SubmitOwnerEvidenceHandler(store: store, reviews: reviews))
        house.handle(ListReviewsHandler(reviews: reviews))
        house.handle(GetReviewHandler(reviews: reviews))
        house.handle(ClaimReviewHandler(reviews: reviews, reader: reader))
        house.handle(ReleaseReviewHandler(reviews: reviews, reader: reader))
        house.handle(ApproveCaseHandler(decider: decider, reader: reader))
        house.handle(RejectCaseHandler(decider: decider, reader: reader))
        house.handle(DecideAsOperatorHandler(decider: decider))
        house.handle(
            ExportCasesHandler(export: PersonExport(database: house.database, sections: RecoveryExport.sections)))
        house.handle(AccountDeletedHandler(house: house) { store.erase($0, in: $1) })
        house.handle(RecoveryBeganHandler(store: store))
        house.handle(CompleteRecoveryHandler(store: store))
        house.handle(RecoveryAppliedHandler(store: store))
        house.handle(NotificationDeliveredHandler(store: store))
        let timers = CaseTimers(store: store)
        house.deliver(CaseStore.holdTimer) { try await timers.endHold($0) }
        house.deliver(CaseStore.neglectTimer) { try await timers.endWaiting($0) }
        let settler = CompletionSettler(store: store)
        house.deliver(CaseStore.completionTimer) { try await settler.settle($0) }
        house.deliver(CaseStore.decoyTimer) { try await timers.decideDecoy($0) }
        let provider = try evidenceProvider(configuration)
        house.deliver(ReviewStore.evidence, apart: true) { try await reviews.judge($0, by: provider) }
        let notifier = store.notifier
        house.deliver(OwnerNotifier.gatheringTimer) { try await notifier.remind($0, .requested) }
        house.deliver(OwnerNotifier.middleTimer) { try await notifier.remind($0, .middle) }
        house.deliver(OwnerNotifier.lastHourTimer) { try await notifier.remind($0, .lastHour) }
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
