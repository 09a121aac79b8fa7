@_exported public import InterceptorsCore
