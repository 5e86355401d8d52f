import BusProtocol
import EventLoop
import Foundation
import HTTPServer
import ProviderHTTP
import ServiceRuntime

@main enum VerificationMain {
    static func main() async { await ServiceProcess.main(VerificationServiceDefinition.definition) }
}

/// Assembles the service of photos and verification.
enum VerificationServiceDefinition {
    static let definition = ServiceDefinition(
        name: .verification, variables: variables + RekognitionJudge.variables, migrations: VerificationMigrations.all,
        peers: [.auth, .profile], assemble: assemble)

    private static let variables: [ConfigurationVariable] = [
        .init(
            "VERIFICATION_HTTP", .text, nil,
            "Where to take uploads and to serve photos: a numeric address and a port. Port 0 is any free one"),
        .init(
            "VERIFICATION_MEDIA", .text, nil,
            "What stands before the path of an upload or a photo: https://HOST, or nothing for the address of the API"),
        .init(
            "VERIFICATION_CONNECTIONS", .integer(4...1024), "64",
            "HTTP connections at a time. Each may take 8 MiB: of the disk while a picture arrives, of memory while a photo is sent"
        ),
        .init(
            "VERIFICATION_BLOBS", .text, nil,
            "Where the encrypted pictures lie: a folder that all replicas share, or s3://BUCKET; required outside development"
        ),
        .init(
            "VERIFICATION_KEY_STORE", .text, nil,
            "Folder of the pictures' keys, the same for all replicas, on another volume; required outside development"),
        .init(
            "VERIFICATION_ARRIVALS", .text, nil,
            "Folder of pictures that are still arriving, best on a disk of this machine. By default it is that of VERIFICATION_BLOBS or, with a bucket, of VERIFICATION_KEY_STORE"
        ),
        .init("VERIFICATION_S3_URL", .text, nil, "Address of the server of the bucket, without the bucket's name"),
        .init("VERIFICATION_S3_REGION", .text, "us-east-1", "Region of the bucket"),
        .init(
            "VERIFICATION_S3_KEY_ID", .text, nil, "ID of the key that may read, write, list and delete in the bucket"),
        .init("VERIFICATION_S3_KEY", .text, nil, "The secret half of that key", isSecret: true),
        .init(
            "VERIFICATION_VIPSTHUMBNAIL", .text, "/usr/bin/vipsthumbnail",
            "Path of vipsthumbnail, which makes smaller sizes of photos. Without it, photos are served as they came"),
        .init(
            "VERIFICATION_MODERATION", .choice(["off", "staff", "webhook"]), "off",
            "Who approves photos of profiles before others see them: nobody, reviewers, or a judge of your own"),
        .init("VERIFICATION_MODERATION_URL", .text, nil, "The URL to which questions about photos of profiles go"),
        .init(
            "VERIFICATION_MODERATION_KEY", .text, nil, "The key that signs these questions", isSecret: true),
        .init(
            "VERIFICATION_JUDGE", .choice(["staff", "webhook", "rekognition", "local"]), "staff",
            "Who judges: reviewers alone, a judge of your own, Rekognition, or in development whatever the caller wishes"
        ),
        .init("VERIFICATION_WEBHOOK_URL", .text, nil, "The URL to which questions go to a judge of your own"),
        .init(
            "VERIFICATION_WEBHOOK_KEY", .text, nil, "The key that signs these questions", isSecret: true),
    ]

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let vault = try vault(container)
        var media = MediaStore(
            database: container.database, keys: container.keys,
            origin: MediaOrigin(base: container.configuration.optionalText("VERIFICATION_MEDIA") ?? ""))
        if let vault { media.onDestroy = keep(vault, container) }
        let photos = PhotoStore(media: media, keys: container.keys)
        let statistics = VerificationStatistics(container.database)
        container.ownGauges = { statistics.measures }
        container.background("statistics", every: .seconds(5)) { try await statistics.look() }
        try handleVerifications(container, photos, vault, statistics)
        let moderation = try container.configuration.text("VERIFICATION_MODERATION")
        var workflow = PhotoWorkflow(
            photos: photos, outbox: container.outbox, audit: container.audit,
            unseen: moderation == "off" ? .approved : .pending)
        if moderation == "webhook" {
            workflow.judge = PhotoJudge(
                webhook: try pictureWebhook("VERIFICATION_MODERATION", container.configuration, photos))
        }
        handlePhotos(container, workflow)
        let evidence = EvidenceStore(photos: photos)
        container.handle(PromiseEvidenceHandler(evidence: evidence))
        container.handle(ListEvidenceHandler(evidence: evidence))
        container.handle(EvidenceEndedHandler(database: container.database, evidence: evidence))
        container.handlePersonalData(ExportVerification.self) { [media] person, transaction in
            media.destroyAll(of: person, because: "account_deleted", in: transaction)
        }
        if let vault {
            let sizing = PhotoSizing(
                photos: photos, vault: vault,
                program: ConfinedProgram(try container.configuration.text("VERIFICATION_VIPSTHUMBNAIL")),
                log: container.log, statistics: statistics)
            container.background("photo-sizes", every: .seconds(5)) { try await sizing.round() }
        }
        try listen(workflow, vault, container, statistics)
    }

    @Loop private static func handlePhotos(_ container: ServiceContainer, _ workflow: PhotoWorkflow) {
        container.handle(GetPhotosHandler(photos: workflow.photos))
        container.handle(PutPhotosHandler(inbox: container.inbox, workflow: workflow))
        container.handle(DeletePhotoHandler(inbox: container.inbox, workflow: workflow))
        container.handle(ListPhotoReviewsHandler(photos: workflow.photos))
        let bearers = BearerReader(bus: container.bus)
        container.handle(GetPhotoReviewHandler(workflow: workflow, bearers: bearers))
        container.handle(DecidePhotoHandler(inbox: container.inbox, workflow: workflow, bearers: bearers))
        container.deliver(PhotoWorkflow.judging, apart: true) { try await workflow.judge($0) }
        container.background("photos", every: .seconds(60)) { try await workflow.publishAgain() }
    }

    @Loop private static func vault(_ container: ServiceContainer) throws -> MediaVault? {
        let configuration = container.configuration
        guard let blobs = configuration.optionalText("VERIFICATION_BLOBS"),
            let keyStore = configuration.optionalText("VERIFICATION_KEY_STORE")
        else {
            guard configuration.profile == .development else {
                throw ConfigurationError("VERIFICATION_BLOBS and VERIFICATION_KEY_STORE are required")
            }
            return nil
        }
        let store = try Self.blobs(blobs, configuration)
        let arrivals = configuration.optionalText("VERIFICATION_ARRIVALS") ?? (store as? MediaFolder)?.path ?? keyStore
        return MediaVault(blobs: store, keyStore: keyStore, arrivals: arrivals, keys: container.keys)
    }

    @Loop private static func blobs(_ place: String, _ configuration: Configuration) throws -> any BlobStore {
        guard place.hasPrefix("s3://") else { return MediaFolder(path: place) }
        let name = String(place.dropFirst(5))
        guard name.wholeMatch(of: /[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/) != nil else {
            throw ConfigurationError("VERIFICATION_BLOBS must be a folder, or s3:// and the name of a bucket")
        }
        let server = try ProviderSettings.url("VERIFICATION_S3_URL", configuration)
        guard ["", "/"].contains(server.path), server.query == nil else {
            throw ConfigurationError("VERIFICATION_S3_URL must have no path: VERIFICATION_BLOBS names the bucket")
        }
        return S3Blobs(
            bucket: server.appending(path: name), region: try configuration.text("VERIFICATION_S3_REGION"),
            credentials: .init(
                accessKey: try configuration.text("VERIFICATION_S3_KEY_ID"),
                secretKey: try configuration.text("VERIFICATION_S3_KEY")))
    }

    /// Makes the folders, and destroys the pictures that are due.
    ///
    /// - Returns: a function that looks for due pictures at once.
    @Loop private static func keep(_ vault: MediaVault, _ container: ServiceContainer) -> @Loop () -> Void {
        let store = DestructionStore(database: container.database)
        let destruction = MediaDestruction(store: store, vault: vault, audit: container.audit, log: container.log)
        container.prepare = {
            let rows = try await container.database.read("SELECT id FROM picture_home")
            let home = try rows.first?.uuid("id").description ?? ""
            // A bucket that hangs delays the start, and no key.
            if try await vault.hasKeys(of: home) { try await destruction.destroyKeys() }
            // The pictures of another database would count as orphans here and be destroyed.
            guard try await vault.belongs(to: home) else {
                return
                    "VERIFICATION_BLOBS and VERIFICATION_KEY_STORE belong to another database. Name this one's folders, or empty ones."
            }
            _ = try await vault.spool()
            return nil
        }
        container.background("orphans", every: .seconds(3600)) { try await destruction.endOrphans() }
        let removeBytes = container.background("bytes", every: .seconds(5)) { try await destruction.removeBytes() }
        return container.background("destructions", every: .seconds(5)) {
            try await destruction.destroyKeys()
            removeBytes()
        }
    }

    @Loop private static func listen(
        _ workflow: PhotoWorkflow, _ vault: MediaVault?, _ container: ServiceContainer,
        _ statistics: VerificationStatistics
    ) throws {
        let (configuration, photos) = (container.configuration, workflow.photos)
        guard configuration.optionalText("VERIFICATION_HTTP") != nil else { return }
        let (host, port) = try configuration.address("VERIFICATION_HTTP")
        let server = MediaListener(
            photos: photos, vault: vault, log: container.log, statistics: statistics
        ).server(
            host: host, port: port, sharesPort: configuration.profile == .development,
            connections: try configuration.integer("VERIFICATION_CONNECTIONS"))
        container.background("uploads", every: nil) {
            if server.boundPort == 0 { try server.start() }
            if port == 0 { photos.media.origin.base = "http://\(host):\(server.boundPort)" }
            while try await photos.markOtherAddresses() {}
            try await workflow.publishAgain()
        } end: {
            await server.drain()
        }
    }

    @Loop private static func handleVerifications(
        _ container: ServiceContainer, _ photos: PhotoStore, _ vault: MediaVault?,
        _ statistics: VerificationStatistics
    ) throws {
        let store = VerificationStore(database: container.database)
        let judge = try judge(container.configuration, photos, vault)
        let workflow = VerificationWorkflow(
            store: store, outbox: container.outbox, audit: container.audit, photos: photos, judge: judge,
            statistics: statistics)
        container.handle(
            BeginVerificationHandler(
                inbox: container.inbox, workflow: workflow, rekognition: judge as? RekognitionJudge,
                log: container.log))
        let captures = CapturePromiser(workflow: workflow, hasVault: vault != nil)
        container.handle(AddCaptureHandler(inbox: container.inbox, captures: captures))
        container.handle(CreateUploadHandler(inbox: container.inbox, media: photos.media, captures: captures))
        container.handle(CompleteVerificationHandler(workflow: workflow))
        container.handle(GetVerificationHandler(store: store))
        container.handle(BeginDocumentVerificationHandler(inbox: container.inbox, workflow: workflow))
        container.handle(WithdrawVerificationConsentHandler(workflow: workflow))
        container.handle(WithdrawDocumentConsentHandler(workflow: workflow))
        container.handle(ListVerificationReviewsHandler(store: store))
        let bearers = BearerReader(bus: container.bus)
        container.handle(GetVerificationReviewHandler(workflow: workflow, bearers: bearers))
        let reviewing = VerificationReviewDecisions(inbox: container.inbox, workflow: workflow, bearers: bearers)
        container.handle(DecideVerificationHandler(reviewing: reviewing))
        container.handle(DecideDocumentHandler(reviewing: reviewing))
        for tier in Tier.allCases {
            container.deliver(VerificationWorkflow.timer(tier)) { try await workflow.clock(tier, $0) }
        }
        container.deliver(VerificationWorkflow.judging, apart: true) { try await workflow.judge($0) }
    }

    /// The webhook of the variables with a prefix.
    @Loop private static func pictureWebhook(
        _ prefix: String, _ configuration: Configuration, _ photos: PhotoStore
    ) throws -> PictureWebhook {
        guard configuration.profile == .development || !photos.media.origin.base.isEmpty else {
            throw ConfigurationError("VERIFICATION_MEDIA is required, so that the judge can fetch the photo")
        }
        return PictureWebhook(webhook: try Webhook(prefix, configuration), photos: photos)
    }

    @Loop private static func judge(
        _ configuration: Configuration, _ photos: PhotoStore, _ vault: MediaVault?
    ) throws -> (any Judge)? {
        switch try configuration.text("VERIFICATION_JUDGE") {
        case "local":
            guard configuration.profile == .development else {
                throw ConfigurationError("VERIFICATION_JUDGE: local is for the development profile only")
            }
            return LocalJudge(vault: vault)
        case "webhook":
            return WebhookJudge(webhook: try pictureWebhook("VERIFICATION_WEBHOOK", configuration, photos))
        case "rekognition": return try RekognitionJudge(configuration)
        default: return nil
        }
    }
}
