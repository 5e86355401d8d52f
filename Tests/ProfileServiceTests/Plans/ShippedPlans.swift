@testable import ProfileService

extension Plan {
    /// A plan of this release, as a person who follows it gets it.
    static func shipped(_ key: String) -> Plan {
        let library = (try? FieldLibrary.shipped.get())!.library
        let file = EmbeddedFiles.Plans.all.first { $0.name == key }!
        return (try? PlanParser.parse(PlanDocument(file.bytes), library))!
    }

    /// The default plan.
    static let yoked = shipped("yoked")

    /// The default plan as it was before it required a verification.
    static let offeringVerification: Plan = {
        let required = String(decoding: EmbeddedFiles.Plans.yoked.bytes, as: UTF8.self)
        let offered = required.replacing(
            #""task": "verification", "need": "required""#, with: #""task": "verification", "need": "optional""#
        )
        .replacing(#", "verification""#, with: "")
        return (try? PlanParser.parse(PlanDocument(Array(offered.utf8)), FieldLibrary.shipped.get().library))!
    }()

    /// The default plan with a verification by a document in place of that by a photo, and without visual preferences.
    static let byDocument: Plan = {
        let byPhoto = String(decoding: EmbeddedFiles.Plans.yoked.bytes, as: UTF8.self)
        let changed = byPhoto.replacing(#""task": "verification""#, with: #""task": "id_verification""#)
        let plan = (try? PlanParser.parse(PlanDocument(Array(changed.utf8)), FieldLibrary.shipped.get().library))!
        return PlanOverrides(requiresVisualSignal: false).applied(to: plan)
    }()

    /// The default plan with both tasks of other services required, or not there.
    static func yoked(verification: Bool = true, visual: Bool = true) -> Plan {
        PlanOverrides(requiresVerification: verification, requiresVisualSignal: visual).applied(to: yoked)
    }
}

extension FieldCatalogue {
    /// The fields of the default plan.
    static let shipped = Plan.yoked.catalogue
}
