internal import InterceptorsTransport

extension HTTPContext {
    private enum CredentialFieldsKey: HTTPContextKey { static var defaultValue: [HTTPField.Name] { [] } }

    /// On a request: the fields that elements of its chain declare for their credentials (`.addsCredentials(in:)`), without those that
    /// always carry some. A recording and a journal replace the values of both.
    package internal(set) var credentialFields: [HTTPField.Name] {
        get { self[CredentialFieldsKey.self] }
        set { self[CredentialFieldsKey.self] = newValue }
    }
}
