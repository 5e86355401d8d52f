#if canImport(Security)
    import Foundation
    import Security

    /// Keeps each item in the keychain of this device: readable after the first unlock, and in no backup.
    ///
    /// It is untested in this repository, whose tests run on Linux. Try it on a device before you rely on it.
    public struct KeychainStore: ClientStore {
        private let service: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: separates these items from those of others in the same keychain.
        ///   - accessGroup: the access group of the apps that share the items.
        public init(service: String = "vestibule", accessGroup: String? = nil) {
            (self.service, self.accessGroup) = (service, accessGroup)
        }

        public func read(_ name: String) throws -> Data? {
            var query = query(name)
            query[kSecReturnData] = true
            var found: CFTypeRef?
            switch SecItemCopyMatching(query as CFDictionary, &found) {
            case errSecSuccess: return found as? Data
            case errSecItemNotFound: return nil
            case let status: throw KeychainError(status: status)
            }
        }

        public func write(_ item: Data?, as name: String) throws {
            guard let item else {
                let status = SecItemDelete(query(name) as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw KeychainError(status: status)
                }
                return
            }
            let content: [CFString: Any] = [
                kSecValueData: item, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query(name) as CFDictionary, content as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query(name).merging(content) { _, last in last } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
        }

        private func query(_ name: String) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true,
            ]
            query[kSecAttrAccessGroup] = accessGroup
            return query
        }
    }

    /// Why the keychain could not be read or written, such as `errSecInteractionNotAllowed` while it is locked.
    public struct KeychainError: Error, Equatable {
        /// The status that the keychain returned.
        public let status: OSStatus
    }
#endif
