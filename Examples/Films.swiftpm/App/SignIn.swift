import FilmsModel
import SwiftUI

struct SignIn: View {
    let library: FilmLibrary
    @State private var name = ""
    @State private var password = ""
    @State private var isWaiting = false

    var body: some View {
        NavigationStack {
            Form {
                Section {
                    TextField("Name", text: $name).textInputAutocapitalization(.never)
                    SecureField("Password", text: $password)
                } footer: {
                    Text("The demo's server knows any name, with the password popcorn.")
                }
                if let text = library.errorText { Text(text).foregroundStyle(.red) }
                Button("Sign In") { Task { await signIn() } }.disabled(isWaiting || name.isEmpty)
            }
            .navigationTitle("Sign In")
        }
    }

    private func signIn() async {
        isWaiting = true
        await library.signIn(name: name, password: password)
        isWaiting = false
    }
}
