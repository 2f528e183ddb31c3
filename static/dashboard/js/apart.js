// What the pages share that are not of the dashboard: sign-in, errors, administration, the API's description.
import { startTheme } from "./theme.js";

startTheme();
