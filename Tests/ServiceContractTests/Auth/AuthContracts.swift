/// The contracts of the messages that auth answers or tells.
enum AuthContracts {
    static let all: [any MessageContract.Type] = [
        SendOTPContract.self, VerifyOTPContract.self, RefreshTokenContract.self, LogoutContract.self,
        ListSessionsContract.self, EndSessionContract.self, EndOtherSessionsContract.self,
        ListDevicesContract.self, PutDeviceContract.self, RemoveDeviceContract.self, GetCodeDeliveryContract.self,
        GetSigningKeysContract.self, RotateSigningKeyContract.self, ChangeRoleContract.self, ListRolesContract.self,
        FollowRevocationsContract.self,
        CheckSessionContract.self, CheckBearerContract.self, NoteTokenUseContract.self, BeginRecoveryContract.self,
        NotifyPersonContract.self,
        IssueSocialNonceContract.self, SignInWithAppleContract.self, SignInWithGoogleContract.self,
        ListIdentitiesContract.self, UnlinkIdentityContract.self, TakeAppleNotificationContract.self,
        ChangePhoneContract.self, UndoPhoneChangeContract.self, DeleteAccountContract.self, ExportAccountContract.self,
        BeginExportContract.self,
        AccountCreatedContract.self, AccountDeletedContract.self, VisitorIdentifiedContract.self,
        NotificationDeliveredContract.self, RecoveryBeganContract.self,
        SuspendAccountContract.self, RestoreAccountContract.self, AccountStatusChangedContract.self,
        ChangeStandingAsOperatorContract.self, FindPersonContract.self,
        ApplyRecoveryContract.self, RecoveryAppliedContract.self, CheckRecoveryContract.self,
        RehashPhonesContract.self,
    ]
}
