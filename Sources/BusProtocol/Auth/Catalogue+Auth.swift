extension Catalogue {
    /// What auth answers, and the events that it tells.
    static let auth: [any BusRequest.Type] = [
        SendOTP.self, VerifyOTP.self, RefreshToken.self, Logout.self, ListSessions.self, EndSession.self,
        EndOtherSessions.self, ListDevices.self, PutDevice.self, RemoveDevice.self, GetCodeDelivery.self,
        GetSigningKeys.self, RotateSigningKey.self, ChangeRole.self, ListRoles.self,
        FollowRevocations.self,
        CheckSession.self, CheckBearer.self, NoteTokenUse.self, BeginRecovery.self, NotifyPerson.self,
        IssueSocialNonce.self, SignInWithApple.self, SignInWithGoogle.self, ListIdentities.self, UnlinkIdentity.self,
        TakeAppleNotification.self, ChangePhone.self, UndoPhoneChange.self, DeleteAccount.self, ExportAccount.self,
        BeginExport.self,
        AccountCreated.self, AccountDeleted.self, NotificationDelivered.self, RecoveryBegan.self,
        VisitorIdentified.self, SuspendAccount.self, RestoreAccount.self, AccountStatusChanged.self,
        ChangeStandingAsOperator.self, FindPerson.self,
        ApplyRecovery.self, RecoveryApplied.self, CheckRecovery.self,
        RehashPhones.self,
    ]
}
