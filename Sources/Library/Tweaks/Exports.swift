@_exported public import TweakOverrides
@_exported public import TweakRecords
