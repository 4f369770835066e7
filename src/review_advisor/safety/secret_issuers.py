"""The public formats of tokens and keys, by issuer."""

from __future__ import annotations

import re
from typing import NamedTuple


class Format(NamedTuple):
    """One kind of secret: each holds the text ``holds``, and ``pattern`` matches ``before`` characters ahead of it.

    Of a pattern with a group only the group is the secret. ``weak``: harmless texts match it as well, so that it counts
    only if no word ends where it begins and it looks random.
    """

    kind: str
    holds: str
    pattern: str
    before: int = 0
    weak: bool = False


_WORD = "[A-Za-z0-9]"
_URL64 = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_BASE64 = "[A-Za-z0-9+/]"
_UUID = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_END = "(?![A-Za-z0-9])"
_LONGEST_WEAK = 300


def _long(kind: str, *prefixes: str, least: int, of: str = _WORD, weak: bool = False) -> tuple[Format, ...]:
    """A prefix, then ``least`` or more characters ``of`` an alphabet.

    Where a match may not count, the next one may begin within it: it is as long as a token, and no longer.
    """
    length = f"{{{least},{_LONGEST_WEAK}}}" if weak else f"{{{least},}}+"
    return tuple(Format(kind, each, f"{re.escape(each)}{of}{length}", 0, weak) for each in prefixes)


def _form(kind: str, holds: str, rest: str, *, weak: bool = False) -> Format:
    """A prefix, then ``rest``, then no letter or digit."""
    return Format(kind, holds, f"{re.escape(holds)}{rest}{_END}", 0, weak)


FORMATS: tuple[Format, ...] = (
    # source code and CI
    *_long("GitHub token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", least=20),
    *_long("GitHub token", "github_pat_", least=22, of="[A-Za-z0-9_]"),
    *_long(
        "GitLab token",
        "glpat-",
        "gldt-",
        "glrt-",
        "glft-",
        "glimt-",
        "glagent-",
        "glsoat-",
        "glffct-",
        "gloas-",
        "glrtr-",
        "glwt-",
        least=20,
        of="[A-Za-z0-9_.-]",
    ),
    *_long("GitLab token", "glptt-", "glcbt-", "GR1348941", least=20, of=_URL64),
    *_long("Atlassian token", "ATATT3", "ATCTT3", "ATBB", "ATTA", least=28, of="[A-Za-z0-9_=-]", weak=True),
    *_long("CircleCI token", "CCIPAT_", "CCIPRJ_", least=22, of="[A-Za-z0-9_]"),
    *_long("Buildkite token", "bkua_", least=40, of=_HEX),
    *_long("SonarQube token", "squ_", "sqp_", "sqa_", least=40, of=_HEX),
    *_long("Sourcegraph token", "sgp_", least=40, of="[A-Za-z0-9_]"),
    *_long("Artifactory token", "AKCp", "cmVmdGtu", least=50, weak=True),
    *_long("Postman key", "PMAK-", least=24, of="[0-9a-f-]"),
    _form("Octopus Deploy key", "API-", "[A-Z0-9]{25,32}", weak=True),
    Format("Harness token", "pat.", rf"pat\.{_URL64}{{22}}\.{_WORD}{{24}}\.{_WORD}{{20}}{_END}"),
    Format("Harness token", "sat.", rf"sat\.{_URL64}{{22}}\.{_WORD}{{24}}\.{_WORD}{{20}}{_END}"),
    Format("Azure DevOps token", "AZDO", f"{_WORD}{{76}}AZDO{_WORD}{{4}}{_END}", 76),
    *_long("Snyk token", "snyk_uat.", least=40, of="[A-Za-z0-9_.-]"),
    *_long("Socket token", "sktsec_", least=40, of=_URL64),
    *_long("Chromatic token", "chpt_", least=12, of=_HEX, weak=True),
    # packages
    *_long("npm token", "npm_", least=36),
    *_long("PyPI token", "pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw", least=50, of=_URL64),
    *_long("RubyGems key", "rubygems_", least=48, of=_HEX),
    _form("crates.io token", "cio", f"{_WORD}{{32}}", weak=True),
    _form("NuGet key", "oy2", "[a-z0-9]{43}", weak=True),
    *_long("Docker token", "dckr_pat_", "dckr_oat_", least=20, of=_URL64),
    *_long("Docker token", "SWMTKN-1-", least=60, of="[a-z0-9-]"),
    *_long("Packagist token", "packagist_", least=40, of="[0-9a-z_]"),
    *_long("Clojars token", "CLOJARS_", least=60),
    # clouds
    *(
        Format("AWS access key id", each, f"{each}(?![A-Z0-9]{{9}}EXAMPLE)[A-Z0-9]{{16}}")
        for each in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    *_long("AWS Bedrock key", "ABSK", least=109, of="[A-Za-z0-9+/=]", weak=True),
    *_long("AWS Bedrock key", "bedrock-api-key-", least=40, of="[A-Za-z0-9+/=]"),
    Format("AWS signature", "X-Amz-Signature=", f"X-Amz-Signature=({_HEX}{{64}})"),
    Format("Google signature", "X-Goog-Signature=", f"X-Goog-Signature=({_HEX}{{128,}}+)"),
    _form("Backblaze key", "K00", "[A-Za-z0-9+/_]{28}", weak=True),
    *_long("AWS session token", "IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz", least=100, of="[A-Za-z0-9+/=]"),
    _form("Amazon token", "amzn.mws.", _UUID),
    *_long("Amazon secret", "amzn1.oa2-cs.v1.", least=64, of=_HEX),
    _form("Google API key", "AIza", f"{_URL64}{{35}}", weak=True),
    *_long("Google API key", "AQ.Ab8", least=40, of=_URL64),
    Format("Firebase key", ":APA91b", f"AAAA{_URL64}{{7}}:APA91b{_URL64}{{100,}}+", 11),
    *_long("Google OAuth token", "ya29.", least=20, of=_URL64),
    *_long("Google OAuth secret", "GOCSPX-", least=20, of=_URL64),
    Format("Google OAuth token", "1//0", rf"1//0{_URL64}{{40,{_LONGEST_WEAK}}}", 0, True),
    Format("Azure AD secret", "Q~", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}" + _END, 4, True),
    Format("Azure key", "JQQJ99", rf"{_WORD}{{52}}JQQJ99{_WORD}{{26}}", 52),
    Format("Azure storage key", "AccountKey=", "AccountKey=([A-Za-z0-9+/]{86}==)"),
    Format("Azure storage key", "SharedAccessKey=", "SharedAccessKey=([A-Za-z0-9+/]{43}=)"),
    Format("Azure signature", "sig=", f"sig=([A-Za-z0-9+/_-]{{43}}=?){_END}", 0, True),
    # what Azure's newer keys hold shortly before their end
    Format("Azure key", "AzFu", f"{_URL64}{{44}}AzFu{_URL64}{{5}}[AQgw]==", 44),
    Format("Azure key", "AzSe", f"{_WORD}{{42}}AzSe{_WORD}{{6}}{_END}", 42),
    Format("Azure key", "+ACR", rf"{_BASE64}{{42}}\+ACR{_BASE64}{{6}}{_END}", 42),
    Format("Azure key", "AzCa", f"{_BASE64}{{33}}AzCa{_BASE64}{{6}}=", 33),
    Format("Azure key", "AIoT", f"{_BASE64}{{33}}AIoT{_BASE64}{{6}}=", 33),
    *(
        Format("Azure key", f"+{each}", rf"{_BASE64}{{33}}\+{each}{_BASE64}{{6}}=", 33)
        for each in ("AEh", "ASb", "ARm")
    ),
    *(
        Format("Azure key", each, f"{_BASE64}{{76}}{re.escape(each)}{_BASE64}{{6}}==", 76)
        for each in ("ACDb", "+ASt", "APIM")
    ),
    *_long("DigitalOcean token", "dop_v1_", "doo_v1_", "dor_v1_", least=64, of=_HEX),
    *_long("Heroku key", "HRKU-AA", least=40, of=_URL64),
    *_long("Fly.io token", "fo1_", least=43, of=_URL64, weak=True),
    *_long("Fly.io token", "fm1r_", "fm1a_", "fm2_", least=80, of="[A-Za-z0-9+/=]"),
    *_long("Netlify token", "nfp_", "nfc_", "nfo_", "nfu_", "nfb_", least=36, weak=True),
    *_long("Vercel token", "vercel_blob_rw_", least=30, of="[A-Za-z0-9_]"),
    *_long("Render key", "rnd_", least=28, weak=True),
    *_long("Aiven secret", "AVNS_", least=16, of=_URL64, weak=True),
    *_long("Scalingo token", "tk-us-", least=48, of=_URL64),
    *_long("Vercel token", "vcp_", "vci_", "vca_", "vcr_", "vck_", least=24, of=_URL64, weak=True),
    Format("Cloudflare key", "v1.0-", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}+"),
    *_long("Cloudflare key", "cfut_", "cfat_", "cfk_", least=40, weak=True),
    *_long("Alibaba Cloud key id", "LTAI", least=16, weak=True),
    _form("Tencent Cloud key id", "AKID", f"{_WORD}{{32}}", weak=True),
    _form("Yandex Cloud key", "AQVN", f"{_URL64}{{35,38}}", weak=True),
    _form("Yandex Cloud key", "YC", f"{_URL64}{{38}}", weak=True),
    *_long("Yandex Cloud key", "t1.9eu", least=60, of="[A-Za-z0-9_.=-]"),
    *_long("Yandex token", "y0_", least=50, of=_URL64, weak=True),
    *_long("Tailscale key", "tskey-", least=20, of=_URL64, weak=True),
    # secrets and infrastructure
    *_long("Vault token", "hvs.", "hvb.", "hvr.", least=24, of=_URL64, weak=True),
    _form("Vault token", "s.", f"{_WORD}{{24}}", weak=True),
    Format("Terraform token", ".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}", 14),
    *_long("Pulumi token", "pul-", least=40, of=_HEX),
    *(
        Format("Doppler token", f"dp.{each}.", rf"dp\.{each}\.(?:[a-z0-9_-]{{2,35}}\.)?{_WORD}{{40,44}}{_END}")
        for each in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    *_long("1Password token", "ops_eyJ", least=100, of="[A-Za-z0-9+/=_-]"),
    Format(
        "1Password key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}" + _END
    ),
    *_long("age key", "AGE-SECRET-KEY-1", least=58, of="[A-Z0-9]"),
    # what it may do stands in its second letter: of a user, an account, an operator, a server, a cluster, a curve
    *(_form("NATS seed", f"S{each}", "[A-Z2-7]{56}", weak=True) for each in "UAONCX"),
    *(_form("PASETO token", f"v{version}.local.", f"{_URL64}{{60,}}+") for version in "1234"),
    *_long("Minisign key", "RWRTY0Iy", least=200, of="[A-Za-z0-9+/=]"),
    Format("k3s token", "K10", f"K10{_HEX}{{64}}::(?:[a-z]{{4,10}}:)?{_HEX}{{32,64}}{_END}"),
    *_long("dbt token", "dbtc_", "dbtu_", "dbts_", least=36, of="[A-Za-z0-9_=-]", weak=True),
    *_long("OpenShift token", "sha256~", least=43, of=_URL64),
    *_long("Databricks token", "dapi", least=32, of=_HEX),
    *_long("Prefect key", "pnu_", "pnb_", least=36, weak=True),
    _form("Defined Networking key", "dnkey-", f"{_URL64}{{26}}-{_URL64}{{52}}"),
    # watching
    Format("New Relic key", "NRAL", f"{_HEX}{{36}}NRAL{_END}", 36),
    *_long("New Relic key", "NRAK-", "NRII-", "NRRA-", "NRIQ-", least=27, of="[A-Za-z0-9_-]"),
    *_long("Grafana token", "glc_", least=32, of="[A-Za-z0-9+/=]", weak=True),
    _form("Grafana token", "glsa_", f"{_WORD}{{32}}_[0-9A-Fa-f]{{8}}"),
    *_long("Grafana key", "eyJrIjoi", least=60, of="[A-Za-z0-9+/=]"),
    *_long("Sentry token", "sntrys_", "sntryu_", least=60, of="[A-Za-z0-9+/=_]"),
    Format("Dynatrace token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + _END),
    *_long("Honeycomb key", "hcaik_", "hcxik_", "hcalk_", least=50),
    _form("LaunchDarkly key", "sdk-", _UUID),
    *(_form("Axiom token", each, _UUID) for each in ("xaat-", "xapt-")),
    *_long("PostHog key", "phx_", least=40, weak=True),
    *_long("Honeybadger token", "hbp_", least=36, weak=True),
    # language models
    *_long("Anthropic key", "sk-ant-", least=16, of=_URL64),
    *_long("OpenRouter key", "sk-or-v1-", least=64, of=_HEX),
    *_long("OpenAI key", "sk-proj-", "sk-svcacct-", "sk-admin-", least=32, of=_URL64),
    Format("API key", "sk-", f"sk-{_URL64}{{32,{_LONGEST_WEAK}}}", 0, True),
    *_long("Hugging Face token", "hf_", "api_org_", least=34, weak=True),
    *_long("Groq key", "gsk_", least=48, weak=True),
    *_long("Perplexity key", "pplx-", least=40),
    *_long("xAI key", "xai-", least=70),
    *_long("Replicate token", "r8_", least=37, weak=True),
    *_long("NVIDIA key", "nvapi-", least=60, of=_URL64),
    *_long("LangSmith key", "lsv2_pt_", "lsv2_sk_", least=32, of="[0-9a-f_]"),
    *_long("Pinecone key", "pcsk_", least=50, of="[A-Za-z0-9_]"),
    *_long("Cerebras key", "csk-", least=40, of="[a-z0-9]", weak=True),
    *_long("Together key", "tgp_v1_", least=40, of=_URL64),
    *_long("Tavily key", "tvly-", least=30, of=_URL64, weak=True),
    _form("ElevenLabs key", "sk_", f"{_HEX}{{48}}"),
    *_long("OpenAI key", "sess-", least=40, weak=True),
    *_long("Cartesia key", "sk_car_", least=20, weak=True),
    *_long("Jina key", "jina_", least=56, of=_URL64),
    *_long("Fireworks key", "fw_", least=22, weak=True),
    *_long("Voyage key", "pa-", least=43, of=_URL64, weak=True),
    _form("Firecrawl key", "fc-", f"{_HEX}{{32}}", weak=True),
    *_long("Apify token", "apify_api_", least=36),
    *_long("E2B key", "e2b_", least=40, of=_HEX),
    *_long("RunPod key", "rpa_", least=40, weak=True),
    *_long("LlamaCloud key", "llx-", least=40, weak=True),
    *_long("Wandb key", "wandb_v1_", least=40, of="[A-Za-z0-9_]"),
    *(_form("Modal token", each, f"{_WORD}{{22}}", weak=True) for each in ("ak-", "as-")),
    *_long("Browserbase key", "bb_live_", least=24, weak=True),
    # talking
    *(Format("Slack token", f"xox{each}-", f"xox{each}-[A-Za-z0-9-]{{10,}}+") for each in "abceoprs"),
    *_long("Slack token", "xoxd-", least=40, of="[A-Za-z0-9+/=%_-]"),
    Format("Slack token", "xapp-", r"xapp-\d-[A-Z0-9]{6,20}-\d{6,20}-[A-Za-z0-9]{20,}+"),
    *_long("Slack token", "xoxe.xox", least=40, of="[A-Za-z0-9-]"),
    Format(
        "Slack webhook", "hooks.slack.com/", "hooks.slack.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,90})"
    ),
    Format("Discord webhook", "/api/webhooks/", rf"/api/webhooks/\d{{17,20}}/({_URL64}{{60,80}})"),
    Format("Mattermost webhook", "/hooks/", f"/hooks/([a-z0-9]{{26}}){_END}"),
    Format("IFTTT webhook", "/with/key/", f"/with/key/({_URL64}{{22,43}})"),
    Format("Make webhook", ".make.com/", rf"\.make\.com/([a-z0-9]{{32}}){_END}"),
    Format("Zapier webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/\d{4,10}/([A-Za-z0-9]{6,12})"),
    Format("Lark webhook", "/bot/v2/hook/", f"/bot/v2/hook/({_UUID})"),
    Format("WeCom webhook", "/webhook/send", rf"/webhook/send\?key=({_UUID})"),
    Format(
        "Teams webhook",
        ".webhook.office.com/",
        rf"\.webhook\.office\.com/webhookb2/({_UUID}@{_UUID}/IncomingWebhook/{_HEX}{{32}}/{_UUID})",
    ),
    *(
        Format(
            "Discord token",
            each,
            rf"{each}[A-Za-z0-9_-]{{22,26}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}{_END}",
            0,
            True,
        )
        for each in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
    ),
    *(
        Format("Telegram token", ":AA", rf"(?<!\d)\d{{{digits}}}:AA{_URL64}{{33}}{_END}", digits)
        for digits in range(8, 12)
    ),
    Format("SendGrid key", "SG.", rf"SG\.{_URL64}{{20,24}}\.{_URL64}{{39,50}}"),
    _form("Mailgun key", "key-", f"{_HEX}{{32}}", weak=True),
    *_long("MailerSend token", "mlsn.", least=64, of=_HEX),
    *_long("OneSignal key", "os_v2_app_", "os_v2_org_", least=60, of="[a-z0-9]"),
    *_long("PubNub key", "sec-c-", least=36, of="[A-Za-z0-9-]"),
    _form("Mandrill key", "md-", f"{_WORD}{{22}}", weak=True),
    *_long("Intercom token", "dG9rO", least=50, of="[A-Za-z0-9+/=]", weak=True),
    _form("Telnyx key", "KEY0", f"[0-9A-F]{{31}}_{_WORD}{{22}}"),
    Format("Twitch token", "oauth:", f"oauth:([a-z0-9]{{30}}){_END}", 0, True),
    _form("Pushbullet token", "o.", f"{_WORD}{{32}}", weak=True),
    Format("Mailchimp key", "-us", rf"{_HEX}{{32}}-us\d{{1,2}}{_END}", 32),
    *_long("Brevo key", "xkeysib-", "xsmtpsib-", least=64, of="[A-Za-z0-9-]"),
    _form("Twilio key", "SK", f"{_HEX}{{32}}", weak=True),
    _form("Resend key", "re_", f"{_WORD}{{8}}_{_WORD}{{24}}", weak=True),
    # selling
    *_long("Stripe key", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", least=16),
    *_long("Stripe webhook secret", "whsec_", least=32, of="[A-Za-z0-9+/=]"),
    *_long("Square token", "sq0atp-", "sq0csp-", least=22, of=_URL64),
    _form("Square token", "EAAA", f"{_URL64}{{60}}", weak=True),
    Format("Braintree token", "access_token$", rf"access_token\$(?:production|sandbox)\$[0-9a-z]{{16}}\${_HEX}{{32}}"),
    *_long("Shopify token", "shpat_", "shpss_", "shpca_", "shppa_", least=32, of="[0-9A-Fa-f]"),
    Format("Plaid token", "access-", f"access-(?:sandbox|development|production)-{_UUID}"),
    *_long("Flutterwave key", "FLWSECK-", "FLWSECK_TEST-", least=12, of="[A-Za-z0-9-]"),
    *_long("Razorpay key id", "rzp_live_", "rzp_test_", least=14),
    *_long("EasyPost key", "EZAK", "EZTK", least=54, weak=True),
    *(
        Format(kind, each, f"(?<![A-Za-z0-9_]){each}{drawn}{_END}", 0, True)
        for kind, drawn, begins in (
            ("Mollie key", f"{_WORD}{{30}}", ("live_", "test_")),
            ("Lob key", f"{_HEX}{{35}}", ("live_", "test_")),
            ("GoCardless token", f"{_URL64}{{40}}", ("live_", "sandbox_")),
        )
        for each in begins
    ),
    *_long("Paddle key", "pdl_live_apikey_", "pdl_sdbx_apikey_", least=40, of="[A-Za-z0-9_]"),
    *_long("Polar token", "polar_oat_", "polar_pat_", least=40),
    *_long("Xendit key", "xnd_production_", "xnd_development_", least=40),
    *_long("Midtrans key", "Mid-server-", least=20, of=_URL64),
    *_long("Cashfree secret", "cfsk_ma_", least=40, of="[a-z0-9_]"),
    *_long("SumUp key", "sup_sk_", least=32),
    Format("Adyen key", "hmfuXNWTK0Qc", "AQE[a-z]hmfuXNWTK0Qc[A-Za-z0-9+/=-]{40,}+", 4),
    *_long("Stytch secret", "secret-live-", "secret-test-", least=36, of="[A-Za-z0-9_=-]"),
    *_long("Shippo token", "shippo_live_", "shippo_test_", least=40, of=_HEX),
    *_long("Duffel token", "duffel_live_", "duffel_test_", least=43, of="[A-Za-z0-9_=-]"),
    # data and content
    *_long("PlanetScale key", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", least=32, of="[A-Za-z0-9_.=-]"),
    *_long("Supabase key", "sbp_", least=40, of=_HEX),
    *_long("Supabase key", "sb_secret_", least=20, of=_URL64),
    *_long("Neon key", "napi_", least=48, weak=True),
    *_long("Neon key", "npg_", least=12, weak=True),
    *_long("MongoDB key", "mdb_sa_sk_", least=40, of=_URL64),
    *_long("CockroachDB key", "CCDB1_", least=40, of="[A-Za-z0-9_]"),
    *_long("Xata key", "xau_", least=32, weak=True),
    _form("ClickHouse key", "4b1d", f"{_WORD}{{38}}", weak=True),
    *_long("Linear key", "lin_api_", "lin_oauth_", least=32),
    *_long("Notion token", "ntn_", "secret_", least=43, weak=True),
    Format("Airtable token", "pat", rf"pat{_WORD}{{14}}\.{_HEX}{{64}}{_END}"),
    *_long("Figma token", "figd_", "figo_", "figu_", least=36, of=_URL64),
    *_long("Contentful token", "CFPAT-", least=40, of=_URL64),
    *_long("Typeform token", "tfp_", least=40, of="[A-Za-z0-9_.=-]"),
    _form("HubSpot token", "pat-na1-", _UUID),
    _form("HubSpot token", "pat-eu1-", _UUID),
    _form("HubSpot token", "pat-ap1-", _UUID),
    *_long("Dropbox token", "sl.", least=130, of="[A-Za-z0-9_=-]", weak=True),
    *_long("Facebook token", "EAA", least=80, weak=True),
    Format("X bearer token", "AAAAAAAAAAAAAAAAAAAA", f"A{{20,24}}[A-Za-z0-9%=]{{60,{_LONGEST_WEAK}}}", 0, True),
    *_long("Mapbox token", "sk.eyJ", "tk.eyJ", least=60, of="[A-Za-z0-9_.-]"),
    Format("MaxMind key", "_mmk", rf"{_WORD}{{6}}_{_WORD}{{29}}_mmk{_END}", 36),
    *_long("ReadMe key", "rdme_", least=60, of="[a-z0-9]"),
    *_long("Frame.io token", "fio-u-", least=60, of="[A-Za-z0-9_=-]"),
    *_long("Adobe secret", "p8e-", least=32),
    *_long("Infracost key", "ico-", least=32, weak=True),
    Format("Salesforce token", "00D", f"00D{_WORD}{{12}}!AQ[A-Za-z0-9._]{{60,}}+"),
    _form("Zoho token", "1000.", rf"{_HEX}{{32}}\.{_HEX}{{32}}"),
    Format("RapidAPI key", "jsn", f"{_HEX}{{10}}msh{_HEX}{{15}}p1{_HEX}{{6}}jsn{_HEX}{{12}}{_END}", 36),
    Format("DeepL key", ":fx", f"{_UUID}:fx{_END}", 36),
    Format("ClickUp token", "pk_", rf"pk_\d{{5,9}}_[A-Z0-9]{{32}}{_END}"),
    _form("Riot key", "RGAPI-", _UUID),
    *_long("VK token", "vk1.a.", least=80, of=_URL64),
    *_long("LinkedIn secret", "WPL_AP1.", least=16, of="[A-Za-z0-9.=+/]"),
    *_long("Pinterest token", "pina_", least=32, weak=True),
    *_long("Instagram token", "IGQV", "IGAA", least=80, of=_URL64, weak=True),
    *_long("Tinybird token", "p.eyJ", least=60, of="[A-Za-z0-9_.-]"),
    # coins
    *_long("wallet key", "xprv", "tprv", "yprv", "zprv", least=100, weak=True),
    *_long("wallet key", "nsec1", "suiprivkey1", least=58, of="[a-z0-9]"),
    *(_form("wallet key", f"S{each}", "[A-Z2-7]{54}", weak=True) for each in "ABCD"),
    *_long("Alchemy key", "alcht_", least=30, weak=True),
    # any issuer. Within a word only a short header is followed: else each "eyJ" of a long line leads to its end.
    *(
        Format("web token", "eyJ", rf"{begin}\.{rest}")
        for rest in (
            # signed, or with ``alg: none``, and so with nothing behind the last dot
            rf"eyJ{_URL64}{{10,}}+\.(?:{_URL64}{{10,}}+|(?![A-Za-z0-9_.-]))",
            # encrypted: the key, which may be empty, the vector, the text and the tag
            rf"{_URL64}{{0,1000}}+\.{_URL64}{{16,24}}\.{_URL64}{{8,}}+\.{_URL64}{{16,64}}{_END}",
        )
        for begin in (rf"(?<![A-Za-z0-9_-])eyJ{_URL64}{{10,}}+", rf"eyJ{_URL64}{{10,400}}+")
    ),
)


class Pair(NamedTuple):
    """A secret without a form of its own, which stands within a few lines of the id that it belongs to."""

    id_kind: str
    kind: str
    pattern: str


PAIRS = (
    Pair("AWS access key id", "AWS secret access key", r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"),
    Pair("Alibaba Cloud key id", "Alibaba Cloud secret", r"(?<![A-Za-z0-9])[A-Za-z0-9]{30}(?![A-Za-z0-9])"),
    Pair("Tencent Cloud key id", "Tencent Cloud secret", r"(?<![A-Za-z0-9])[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
)

NEAR = 400
"""So many characters before or after the id."""
