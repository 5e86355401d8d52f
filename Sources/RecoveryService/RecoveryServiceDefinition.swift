import BusProtocol
import EventLoop
import ServiceRuntime

@main enum RecoveryMain {
    static func main() async { await ServiceProcess.main(RecoveryServiceDefinition.definition) }
}

/// Puts recovery together from its handlers, deliverers and variables.
enum RecoveryServiceDefinition {
    static let definition = ServiceDefinition(
        name: .recovery, variables: variables, migrations: RecoveryMigrations.all,
        peers: [.auth, .profile, .verification],
        assemble: assemble)

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let policy = RecoveryPolicy(
            hold: try RecoveryHold.seconds(configuration),
            riskyHold: try configuration.duration("RECOVERY_HOLD_RISKY").components.seconds,
            perPhone: try configuration.integer("RECOVERY_PER_PHONE"),
            perAddressDay: try configuration.integer("RECOVERY_PER_ADDRESS_DAY"))
        let (database, inbox, outbox, audit) = (container.database, container.inbox, container.outbox, container.audit)
        let secrets = RecoverySecrets(container.keys)
        let notifier = OwnerNotifier(database: database, outbox: outbox, secrets: secrets)
        let cases = CaseWorkflow(outbox: outbox, audit: audit, secrets: secrets, policy: policy, notifier: notifier)
        let reviews = CaseReviewStore(database: database, sealer: secrets.evidenceSealer)
        let claims = RequestRecoveryHandler(
            database: database, inbox: inbox, bus: container.bus, delivery: container.delivery, cases: cases)
        container.handle(claims)
        container.handle(RequestRecoveryV1Handler(handler: claims))
        container.handle(GetRecoveryCaseHandler(database: database, cases: cases))
        container.handle(DisputeRecoveryHandler(database: database, cases: cases))
        container.handle(CancelRecoveryHandler(database: database, cases: cases))
        container.handle(ListOwnCasesHandler(database: database))
        let bearers = BearerReader(bus: container.bus)
        container.handle(SetRecoveryLockHandler(inbox: inbox, outbox: outbox, bearers: bearers))
        let reader = CaseReviewerReader(database: database, audit: audit, bearers: bearers)
        let decisions = CaseReviewDecisions(cases: cases, reviews: reviews)
        container.handle(SubmitEvidenceHandler(database: database, cases: cases, reviews: reviews))
        container.handle(SubmitOwnerEvidenceHandler(inbox: inbox, cases: cases, reviews: reviews))
        let pictures = PicturePromiser(database: database, inbox: inbox, bus: container.bus, cases: cases)
        container.handle(AddClaimantPictureHandler(pictures: pictures))
        container.handle(AddOwnerPictureHandler(pictures: pictures))
        container.handle(ListReviewsHandler(reviews: reviews))
        container.handle(GetReviewHandler(database: database, audit: audit, reviews: reviews, bus: container.bus))
        container.handle(SeePictureHandler(database: database, audit: audit, reader: reader, bus: container.bus))
        container.handle(ClaimReviewHandler(database: database, decisions: decisions, reader: reader))
        container.handle(ReleaseReviewHandler(database: database, decisions: decisions, reader: reader))
        container.handle(ApproveCaseHandler(inbox: inbox, decisions: decisions, reader: reader))
        container.handle(RejectCaseHandler(inbox: inbox, decisions: decisions, reader: reader))
        container.handle(
            DecideAsOperatorHandler(
                database: database, decisions: decisions, isDevelopment: configuration.profile == .development))
        container.handlePersonalData(ExportCases.self, sections: RecoveryExport.sections) { person, transaction in
            for id in try await CaseStore.erase(person, in: transaction) {
                try await outbox.publish(EvidenceEnded(personID: id), in: transaction)
            }
        }
        container.handle(RecoveryBeganHandler(database: database, cases: cases))
        container.handle(CompleteRecoveryHandler(database: database, inbox: inbox, bus: container.bus, cases: cases))
        container.handle(RecoveryAppliedHandler(database: database, cases: cases))
        container.handle(NotificationDeliveredHandler(database: database))
        let timers = CaseTimers(database: database, cases: cases)
        container.deliver(CaseWorkflow.holdTimer) { try await timers.endHold($0) }
        container.deliver(CaseWorkflow.neglectTimer) { try await timers.endWaiting($0) }
        let reconciler = CompletionReconciler(database: database, bus: container.bus, cases: cases)
        container.deliver(CaseWorkflow.completionTimer) { try await reconciler.reconcile($0) }
        container.deliver(CaseWorkflow.decoyTimer) { try await timers.decideDecoy($0) }
        let judge = EvidenceJudge(
            database: database, cases: cases, reviews: reviews, provider: try evidenceProvider(configuration))
        container.deliver(EvidenceJudge.destination, apart: true) { try await judge.judge($0) }
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
            "The hold for a number that was claimed three times within 30 days, and for a dormant account; never less than RECOVERY_HOLD"
        ),
        .init(
            "RECOVERY_IDENTITY_PROVIDER", .choice(["manual", "local"]), "manual",
            "Who judges evidence of identity before the reviewers: nobody, or in development by how it begins"),
        .init("RECOVERY_PER_PHONE", .integer(1...100), "3", "Requests of a claimant within 30 days"),
        .init("RECOVERY_PER_ADDRESS_DAY", .integer(1...100_000), "20", "Requests from a client address within a day"),
    ]
}
