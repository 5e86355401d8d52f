extension Catalogue {
    /// What recovery answers, and the events that it tells.
    static let recovery: [any BusRequest.Type] = [
        RequestRecovery.self, ExportCases.self, GetRecoveryCase.self, DisputeRecovery.self, CancelRecovery.self,
        ListOwnCases.self, SetRecoveryLock.self, SubmitEvidence.self, SubmitOwnerEvidence.self, ListReviews.self,
        GetReview.self,
        ClaimReview.self,
        ReleaseReview.self, ApproveCase.self, RejectCase.self, DecideAsOperator.self, CompleteRecovery.self,
        CaseOpened.self, CaseClosed.self,
    ]
}
