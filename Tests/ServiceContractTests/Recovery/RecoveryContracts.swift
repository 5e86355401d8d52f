/// The contracts of the messages that recovery answers or tells.
enum RecoveryContracts {
    static let all: [any MessageContract.Type] = [
        RequestRecoveryContract.self, GetRecoveryCaseContract.self, DisputeRecoveryContract.self,
        CancelRecoveryContract.self, CaseOpenedContract.self, CaseClosedContract.self, ExportCasesContract.self,
        ListOwnCasesContract.self, SetRecoveryLockContract.self, SubmitEvidenceContract.self,
        SubmitOwnerEvidenceContract.self, ListReviewsContract.self,
        GetReviewContract.self, ClaimReviewContract.self, ReleaseReviewContract.self, ApproveCaseContract.self,
        RejectCaseContract.self, DecideAsOperatorContract.self, CompleteRecoveryContract.self,
    ]
}
