internal import Foundation
internal import Interceptors
public import Observation

/// The state of the app's screens.
@MainActor @Observable
public final class FilmLibrary {
    /// The films of the list, or those that the search has found.
    public private(set) var films: [Film] = []
    /// Whether the films were stored earlier, because the server can't be reached.
    public private(set) var isShowingStored = false
    /// The last failure, for people.
    public private(set) var errorText: String?
    /// The text in the search field. After a change, call ``load()``.
    public var searchText = ""
    /// The account that is signed in.
    public private(set) var account: String? {
        didSet { if account == nil { (films, isShowingStored, searchText) = ([], false, "") } }
    }
    private let api: FilmsAPI

    /// Creates the state for an API.
    public init(_ api: FilmsAPI) { self.api = api }

    /// Whether an account is signed in.
    public var isSignedIn: Bool { account != nil }

    /// Signs in, and loads the films.
    public func signIn(name: String, password: String) async {
        do {
            try await api.signIn(name, password: password)
            await load()
        } catch {
            errorText = error.localizedDescription
        }
    }

    /// Signs out, and forgets all that belongs to the account.
    public func signOut() async {
        await api.signOut()
        (account, errorText) = (api.account, nil)
    }

    /// Loads the films for the search text. A response that is less than a minute old is used again.
    public func load() async { await load(.standard) }

    /// Asks the server again, whatever is stored.
    public func refresh() async { await load(.revalidate) }

    private func load(_ mode: CacheMode) async {
        let asked = (searchText, api.account)
        if asked.1 != nil {
            do {
                let found = try await api.films(titled: searchText, mode: mode)
                // The user has typed more, or has signed out.
                guard asked == (searchText, api.account) else { return }
                (films, isShowingStored, errorText) = (found.films, found.areStored, nil)
            } catch {
                // After a later search, or a sign-out, the failure is nobody's. A session that the server ended is this call's.
                if !error.isCancelled, asked.0 == searchText, account != nil || asked.1 == api.account {
                    errorText = error.localizedDescription
                }
            }
        }
        // A refresh token that the server doesn't know any more signs out.
        account = api.account
    }
}
