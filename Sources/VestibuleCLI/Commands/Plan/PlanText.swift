import BusProtocol

/// The plans, their versions and drafts as text.
enum PlanText {
    static func table(of list: PlanList) -> String {
        let rows = list.plans.map { plan in
            [plan.key, "\(plan.version)", RecoveryText.time(plan.publishedAt), plan.apps.joined(separator: ", ")]
        }
        return TextTable.text(of: [["plan", "version", "published", "apps"]] + rows)
    }

    static func page(of overview: PlanOverview) -> String {
        let versions = overview.versions.map { version in
            [
                "\(version.version)",
                version.current ? "in use" : version.retiredAt == nil ? "published" : "retired",
                RecoveryText.time(version.publishedAt), "\(version.people)",
            ]
        }
        return TextTable.text(of: [["version", "state", "published", "people"]] + versions) + "\n\n"
            + DraftText.table(of: overview.drafts)
    }
}
